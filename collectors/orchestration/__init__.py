"""Kubernetes, its node agents and schedulers, container runtimes, and Slurm."""
