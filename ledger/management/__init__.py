"""The commands, and what they share: shells around the domain, which read settings and clocks."""
