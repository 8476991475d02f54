"""The faces: command line, HTTP API and page."""
