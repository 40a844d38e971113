"""GPU readings from DCGM exporters, or from a Prometheus server that scrapes them."""
