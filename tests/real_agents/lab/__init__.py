"""A model on this machine that says what a test wrote for it."""
