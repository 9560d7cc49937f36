"""Commands with a file of their own; each is registered in cli.py. Heavy imports stay inside them."""
