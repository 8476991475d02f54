"""Series of numbers: the Prometheus exposition and exported tables."""
