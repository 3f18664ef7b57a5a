"""How long searches of the page Browse take: `python -m benchmarks.browsing [ITEMS]`; a part of `large_project`."""

import sys

from benchmarks.large_project import SEARCHES, main

if __name__ == "__main__":
    sizes = sys.argv[1:2] or ["100000"]
    main(["--items", *sizes, "--only", *(f"browse, {name}" for name in SEARCHES)])
