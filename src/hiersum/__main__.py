"""`python -m hiersum` is the command `hiersum`."""

from hiersum.cli import main

if __name__ == "__main__":
    main()
