"""The user's files: what may be touched, what they say now, and how they changed."""
