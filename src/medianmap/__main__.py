"""`python -m medianmap` is the command `medianmap`."""

from .cli import main

main()
