"""The LSP face, a file a surface."""
