"""The Agent Client Protocol's client role, for any editor that speaks LSP."""

from importlib.metadata import version

__version__ = version("acp-sidecar")
