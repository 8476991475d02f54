"""What GPUs, their driver and NVIDIA's tools print."""
