"""A cluster to look at: the Philly jobs on synthetic machines, with synthetic troubles. Pure."""
