"""What the hot paths cost. Every module here with a ``main()`` measures one of them."""
