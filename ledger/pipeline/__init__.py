"""Reports of training code: steps go to the ledger as readings, what input pipelines took is summed by the hour."""
