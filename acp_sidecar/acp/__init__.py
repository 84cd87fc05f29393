"""ACP as bytes and values, sans-I/O. Knows no editor, no file and no event loop."""
