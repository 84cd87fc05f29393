"""The embedded agent and the demonstration that plays it in a real Neovim."""
