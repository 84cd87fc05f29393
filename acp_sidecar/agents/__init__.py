"""One agent as a running thing: its process and the conversation over its pipes."""
