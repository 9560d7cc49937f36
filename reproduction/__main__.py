"""`python -m reproduction`, run in the folder of the repository; `make reproduce` calls it."""

import sys

from medianmap.app.main import LazyGroup, main

EXPERIMENTS = LazyGroup(lazy={"reproduction": ("reproduction.command:reproduce", "Run the chapter's experiments.")})


def run(args: list[str]) -> None:
    """Run the experiments as the command line says; mistakes and interrupts end as those of `medianmap` do."""
    main(["reproduction", *args], EXPERIMENTS, "python -m")


if __name__ == "__main__":
    run(sys.argv[1:])
