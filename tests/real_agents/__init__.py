"""Real agents through the real sidecar, with a scripted model in place of a network."""
