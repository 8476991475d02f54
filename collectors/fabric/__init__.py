"""Adapters, ports, switches and interfaces."""
