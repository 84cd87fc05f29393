"""What a conversation is: events go in, changes come out. Pure."""
