"""How answers are written: ledgers and runs, in JSON and in CSV."""
