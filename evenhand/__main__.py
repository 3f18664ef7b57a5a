"""Run the command line: `python -m evenhand COMMAND`."""

from evenhand.commands.main import main

if __name__ == "__main__":
    main()
