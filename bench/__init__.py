"""How fast it is: measurements that anyone can repeat. See bench/README.md."""
