"""Run the command line from a checkout: `python cli.py COMMAND`, the same as `python -m evenhand COMMAND`."""

from evenhand.commands.main import cli, main

__all__ = ["cli", "main"]

if __name__ == "__main__":
    main()
