"""What a fitted map says, as numbers first (summary) and as text from them."""
