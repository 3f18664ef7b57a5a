"""Names for new runs of the page Inference."""

from datetime import UTC, datetime

from annotations.database.store import Store
from annotations.jobs import jobs
from core.runs.records import FORBIDDEN, runs_folder, runs_in


def free_name(store: Store, label: str) -> str:
    """A name for a run that is not taken: the model, the language, the day."""
    bare = "".join("-" if c in FORBIDDEN else c for c in label).strip(". ")[-60:] or "run"
    taken = {run.name for run in runs_in(runs_folder(store.path, "nli"))}
    for one in jobs.jobs(store):
        if "--run" in one.command:
            taken.add(one.command[one.command.index("--run") + 1])
    name, number = f"{bare} {datetime.now(UTC):%Y-%m-%d}", 1
    while name in taken:
        number += 1
        name = f"{bare} {datetime.now(UTC):%Y-%m-%d} ({number})"
    return name
