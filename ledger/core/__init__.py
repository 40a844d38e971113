"""The counting rules, pure: standard library only, integers only, no clock and no settings of their own."""
