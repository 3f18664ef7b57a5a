"""How long the agreement of a large project takes: `python -m benchmarks.agreement [ITEMS] [ANNOTATORS] [PER_ARTICLE]`.

Labels are made up (each item has a share of accepts; annotators agree with it
nine times in ten) and written straight into a database that is removed again.
"""

import random
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from evenhand.annotations.agreement.disagreements import disagreements
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import annotators, create_project, guideline
from evenhand.annotations.types import Project
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.keywords import find


def fill(store: Store, items: int, people: int, per_article: int = 0) -> Project:
    """A project with *items* items, each labelled by three of *people* annotators.

    *per_article*: how many sentences in a row name the same source article; 0: none names any.
    """
    project = create_project(store, "large", annotators=[f"annotator {n}" for n in range(people)])
    ids, version = [who.id for who in annotators(store, project)], guideline(store, project).id
    pairs = keyword_pairs()
    with Batch.begin(store, project, "made up") as batch:
        batch.add(
            NewItem(text=text, candidate=find(text)[0], file="made up", line=n, extra=_source(n, per_article))
            for n, text in enumerate(f"{pairs[n % len(pairs)].male}读到第{n}页。" for n in range(items))
        )
        batch.publish()
    known = [row[0] for row in store.db.execute("SELECT id FROM item")]
    chance = random.Random(0)
    with store.write() as db:
        labels = []
        for item in known:
            usual = "accept" if chance.random() < 0.8 else "reject"
            for who in chance.sample(ids, 3):
                other = "reject" if usual == "accept" else "accept"
                labels.append(
                    (
                        len(labels) + 1,
                        f"o{len(labels)}",
                        project.id,
                        item,
                        who,
                        version,
                        usual if chance.random() < 0.9 else other,
                    )
                )
        db.executemany(
            "INSERT INTO label (id, op_id, project, item, annotator, guideline, choice, form_shown, desk,"
            " revision, created) VALUES (?, ?, ?, ?, ?, ?, ?, 'masked', 'd', 1, '')",
            labels,
        )
        db.executemany(
            "INSERT INTO assignment (item, annotator, project, state, turn, latest, blind)"
            " VALUES (?, ?, ?, 'labelled', 1, ?, ?)",
            ((item, who, project.id, label, label) for label, _, _, item, who, _, _ in labels),
        )
    return project


def _source(line: int, per_article: int) -> dict[str, object]:
    return {"source": {"name": f"article {line // per_article}"}} if per_article else {}


def main() -> None:
    """Print the seconds of the report and of one page of disagreements."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    people = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    per_article = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "large.db") as store:
        project = fill(store, items, people, per_article)
        marks = [(time.perf_counter(), time.process_time())]
        report = agreement(store, project)
        marks.append((time.perf_counter(), time.process_time()))
        _, total = disagreements(store, project)
        marks.append((time.perf_counter(), time.process_time()))
    spent = [f"{b[0] - a[0]:.2f} s ({b[1] - a[1]:.2f} s of CPU)" for a, b in pairwise(marks)]
    print(f"{report.items} items, {report.labels} labels, {people} annotators, {len(report.cohen)} pairs of annotators")
    print(f"agreement {spent[0]}, first page of {total} disagreements {spent[1]}")
    print(f"alpha {report.overall.alpha.value:.4f} [{report.overall.alpha.low:.4f}, {report.overall.alpha.high:.4f}]")


if __name__ == "__main__":
    main()
