"""Clients and servers of shared file systems and object stores."""
