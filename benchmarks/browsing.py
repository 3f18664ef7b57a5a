"""How long searches of the page Browse take: `python -m benchmarks.browsing [ITEMS]`; a part of `large_project`."""

from benchmarks.large_project import SEARCHES, report
from benchmarks.measuring import options

if __name__ == "__main__":
    report([options(__doc__, "items", items=100_000).items], [f"browse, {name}" for name in SEARCHES])
