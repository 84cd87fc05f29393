"""The ACP client role, a file a concern, towards an editor known only by its ports."""
