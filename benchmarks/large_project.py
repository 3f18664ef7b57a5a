"""What the lead waits for in a large project: `python -m benchmarks.large_project [ITEMS]`.

A project with ITEMS made-up sentences (100,000) and three labels each, as benchmarks.dashboard writes it. Printed are
seconds (once, after nothing) and the most memory that the process has had by then.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.dashboard import fill
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.describe.project_description import describe_project, usual_vocabulary
from evenhand.annotations.forecast.work import forecast
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.quality.report import quality
from evenhand.annotations.release import make_release, release, verify, write_release


def timed(name: str, work: Callable[[], object]) -> None:
    """Do *work* once and print what it took."""
    start = time.perf_counter()
    work()
    spent, most = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{name:<36}{spent:>8.1f} s{most:>8,} MB", flush=True)


def main(items: int) -> None:
    """Fill a database and time each piece of work."""
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "large.db") as store:
        project = change_project(store, fill(store, items), licence="CC BY 4.0", source_statement="Made up.")
        out = Path(folder) / "release"
        timed("dashboard", lambda: dashboard(store, project))
        timed("agreement", lambda: agreement(store, project))
        timed("statistics of the kept sentences", lambda: describe_project(store, project, usual_vocabulary("zh")))
        timed("statistics of all", lambda: describe_project(store, project, usual_vocabulary("zh"), accepted=False))
        timed("forecast of both plans", lambda: forecast(store, project))
        timed("quality", lambda: quality(store, project))
        timed("release", lambda: make_release(store, project, "1.0"))
        timed("written to a folder", lambda: write_release(store, project, release(store, project, "1.0"), out))
        timed("verified", lambda: verify(out, store=store, release=release(store, project, "1.0")))
        # In short transactions: labels that come meanwhile wait for one of them.
        timed("a fourth label wanted of each", lambda: change_project(store, project, per_item=4))
        timed("two in a hundred come again", lambda: change_project(store, project, retest=0.02))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
