"""The Agent Client Protocol's client role, for any editor that speaks LSP."""

__version__ = "0.1.0"
