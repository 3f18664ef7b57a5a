"""What the plan `stop` saves, and whether agreement on its random share says the same as full labelling.

    python -m benchmarks.stop_at_first_reject [--items 2000] [--share 0.1] [--seeds 40] [--check 2]

Three made-up annotators label every item: each item has a class (clear, mixed, bad), each annotator accepts an item of
a class with a probability of his or her own, so that a quarter to a third of the items are kept, as in the papers. The
same labels are then played under `stop`: an item outside the share ends with its first reject, the annotators coming
in a random order. Fleiss' kappa, Krippendorff's alpha and Gwet's AC1 are computed on all items and on the share alone.

`hit`: the value of full labelling lies in the 95% interval of the share (the share is part of the whole, so somewhat
more than 95% is expected). `naive`: the same measure on whatever labels `stop` happened to make, which is what the
share is there to avoid. With --check N the first N seeds go through the database too, label by label as desks send
them: the kept items must be those of full labelling.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import mean

import numpy as np

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.items.wanted_labels import is_shared
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Operation, Project
from evenhand.core.statistics import Estimate, Resampling, Tally, fleiss_kappa, gwet_ac1, krippendorff_alpha
from evenhand.core.text.keywords import find

CLASSES = ((0.28, (0.97, 0.95, 0.93)), (0.36, (0.75, 0.60, 0.45)), (0.36, (0.15, 0.10, 0.05)))  # share, who accepts
PEOPLE = ("Ada", "Bo", "Chen")
MEASURES = ("kappa", "alpha", "ac1")


@dataclass(frozen=True, slots=True)
class Run:
    """One seed: what was saved, and each measure on all items, on the share, and on whatever `stop` made."""

    kept: float
    saved: float
    full: dict[str, Estimate]
    share: dict[str, Estimate]
    naive: dict[str, Estimate]


def opinions(items: int, seed: int) -> list[tuple[bool, ...]]:
    """Who of the three accepts each item."""
    draw = random.Random(seed)
    rates = draw.choices([rates for _, rates in CLASSES], [share for share, _ in CLASSES], k=items)
    return [tuple(draw.random() < rate for rate in one) for one in rates]


def stopped(labels: Sequence[bool], order: Sequence[int], shared: bool) -> list[bool]:
    """The labels that an item gets under `stop`."""
    made: list[bool] = []
    for person in order:
        made.append(labels[person])
        if not made[-1] and not shared:
            break
    return list(labels) if shared else made


def measured(labels: Sequence[Sequence[bool]], resampling: Resampling) -> dict[str, Estimate]:
    """Every measure on items with two labels or more."""
    rows = np.array([(sum(one), len(one) - sum(one)) for one in labels], dtype=np.int64).reshape(-1, 2)
    tally = Tally.of(rows)
    # Fleiss' kappa is for equally many labels of each item
    return {
        "kappa": fleiss_kappa(tally.complete, resampling),
        "alpha": krippendorff_alpha(tally.paired, resampling),
        "ac1": gwet_ac1(tally.paired, resampling),
    }


def run(items: int, share: float, seed: int) -> Run:
    """Full labelling and `stop` on the same labels."""
    full, draw = opinions(items, seed), random.Random(-seed - 1)
    shared = [is_shared(seed, f"{seed}|{n}".encode(), share) for n in range(items)]
    made = [
        stopped(one, draw.sample(range(len(PEOPLE)), len(PEOPLE)), in_it)
        for one, in_it in zip(full, shared, strict=True)
    ]
    resampling = Resampling(resamples=1000, seed=seed)
    return Run(
        mean(all(one) for one in full),
        1 - sum(map(len, made)) / (items * len(PEOPLE)),
        measured(full, resampling),
        measured([one for one, in_it in zip(full, shared, strict=True) if in_it], resampling),
        measured(made, resampling),
    )


def played(items: int, share: float, seed: int) -> float:
    """The same opinions through queue and database; the share of labels that was saved. The kept items are compared."""
    texts = [f"第{n}个早上，{'他' if n % 2 else '她'}去市场买菜。" for n in range(items)]
    says = dict(zip(texts, opinions(items, seed), strict=True))
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "stop.db") as store:
        made = create_project(store, "stop", annotators=PEOPLE, seed=seed)
        made = change_project(store, made, plan="stop", share=share)
        with Batch.begin(store, made, "made.txt") as batch:
            batch.add(NewItem(text, find(text)[0], "made.txt", n) for n, text in enumerate(texts, 1))
            batch.publish()
        total = _label(store, made, says)
        query = "SELECT text FROM item WHERE status = 'accepted'"
        kept = {text for (text,) in store.db.execute(query)}
        assert kept == {text for text, accepts in says.items() if all(accepts)}, "other sentences are kept"
    return 1 - total / (items * len(PEOPLE))


def _label(store: Store, made: Project, says: dict[str, tuple[bool, ...]]) -> int:
    """All three at work in turn until nothing is left; how many labels they made."""
    people, number, idle = annotators(store, made), 0, 0
    for place, person in cycle(enumerate(people)):
        found = claim(store, made, person, want=8)
        operations = []
        for item in found:
            number += 1
            choice, reasons = ("accept", ()) if says[item.text][place] else ("reject", ("name",))
            operations.append(Operation(f"op-{number}", item.uid, choice, "desk", number, reasons=reasons))
        assert all(answer.stored for answer in store_operations(store, made, person, operations))
        idle = 0 if found else idle + 1
        if idle == len(people):
            break
    return number


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=2_000)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--check", type=int, default=1, help="so many seeds through the database too")
    asked = parser.parse_args()
    runs = [run(asked.items, asked.share, seed) for seed in range(asked.seeds)]
    saved = sorted(one.saved for one in runs)
    print(f"{asked.items:,} items, three annotators, share {asked.share:.0%}, {asked.seeds} seeds")
    kept = mean(one.kept for one in runs)
    print(f"kept by all {kept:.1%}; labels saved {mean(saved):.1%} ({saved[0]:.1%} to {saved[-1]:.1%})")
    print(f"{'measure':8} {'full':>7} {'share':>7} {'half width':>11} {'hit':>9} {'naive':>7}")
    for name in MEASURES:
        print(_line(name, runs))
    for seed in range(asked.check):
        found = played(asked.items, asked.share, seed)
        print(f"seed {seed} through the database: labels saved {found:.1%}, the same sentences kept")


def _line(name: str, runs: list[Run]) -> str:
    full = [one.full[name].value or 0.0 for one in runs]
    share = [one.share[name] for one in runs]
    hits = sum((e.low or 0.0) <= value <= (e.high or 0.0) for value, e in zip(full, share, strict=True))
    half = mean(((e.high or 0.0) - (e.low or 0.0)) / 2 for e in share)
    naive = [one.naive[name].value for one in runs]
    told = "—" if None in naive else f"{mean(value for value in naive if value is not None):7.3f}"
    values = mean(e.value or 0.0 for e in share)
    return f"{name:8} {mean(full):7.3f} {values:7.3f} {half:11.3f} {hits:4}/{len(runs):<4} {told:>7}"


if __name__ == "__main__":
    main()
