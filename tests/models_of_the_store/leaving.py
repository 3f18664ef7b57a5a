"""The model of a curation with exports and imports in between: releases, files of labels, packages."""

import hashlib
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from evenhand.annotations.adjudication.decisions import case, cases, decide_case, reopen
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.browse.search import Filters, search_items
from evenhand.annotations.database.backup import trial
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.label_files import LEAD, TAKEN_BACK
from evenhand.annotations.files.package.records import author_codes
from evenhand.annotations.files.package.write_package import import_package, import_package_labels, package_parts
from evenhand.annotations.files.undo_import import conflicts, imports, keep_first, take_second, undo
from evenhand.annotations.labels.read import FILE_DESK
from evenhand.annotations.progress.dashboard import dashboard
from evenhand.annotations.projects.annotators import annotators, pseudonyms, rename_annotator
from evenhand.annotations.projects.consent import answer_for_everybody, consenting
from evenhand.annotations.projects.projects import change_project, counts
from evenhand.annotations.queue.leases import LEASE_S
from evenhand.annotations.release.changes import content_hash, contents_of
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.release.stored_releases import release_files, releases
from evenhand.annotations.release.verify import verify
from evenhand.annotations.types import Project
from evenhand.core.files.archives import Member
from evenhand.core.statistics import Resampling
from tests.models_of_the_store.curation import WHO, Curation
from tests.support.projects import broken_rules

FEW_DRAWS = Resampling(resamples=50, seed=1)
PUBLISHED = "JOIN batch ON batch.id = item.batch AND batch.published > 0"
FROM_FILE = FILE_DESK  # the desk of labels of a file that names no form


class Leaving(Curation):
    """As before, and the lead adjudicates, renames, releases, imports labels and takes them back."""

    def begin(self) -> None:
        super().begin()
        self.project = change_project(self.store, self.project, licence="CC0", source_statement="Made.")
        answer_for_everybody(self.store, self.project, "release")
        self.frozen: dict[str, tuple[str, str]] = {}  # version -> hash of the contents, hash of all files
        self.files = 0

    @rule(rescue=st.booleans())
    def may_rescue(self, rescue: bool) -> None:
        self.project = change_project(self.store, self.project, rescue=rescue)

    @rule(number=st.integers(0, 5), choice=st.sampled_from(("accept", "reject", None)))
    def adjudicate(self, number: int, choice: str | None) -> None:
        if not (waiting := cases(self.store, self.project)):
            return
        uid = waiting[number % len(waiting)]
        if choice == "accept" and not self.project.rescue:
            choice = "reject"
        seen = case(self.store, self.project, uid)
        base = seen.settlement.op_id if seen.settlement else None
        decide_case(
            self.store, self.project, uid, choice=choice, adjudicator="Dee", why="read", seen=seen.seen, base=base
        )

    @rule()
    def open_again(self) -> None:
        for uid in cases(self.store, self.project, "settled")[:1]:
            standing = case(self.store, self.project, uid).settlement
            labels, wanted = self.store.db.execute("SELECT labels, wanted FROM item WHERE uid = ?", (uid,)).fetchone()
            if standing is not None and labels >= wanted:
                reopen(self.store, self.project, uid, adjudicator="Dee", base=standing.op_id)

    @rule(who=WHO)
    def rename(self, who: int) -> None:
        desk = self.desk(who)
        self.number += 1
        desk.person = rename_annotator(self.store, self.project, desk.person, f"renamed {self.number}")

    @rule(who=WHO, choice=st.sampled_from(("accept", "reject")), number=st.integers(1, 5), stranger=st.booleans())
    def labels_of_a_file(self, who: int, choice: str, number: int, stranger: bool) -> None:
        query = f"SELECT uid FROM item {PUBLISHED} ORDER BY item.hash LIMIT ?"
        self.files += 1
        name = "From a file" if stranger else self.desk(who).person.name
        rows = [
            {"item": uid, "annotator": name, "op_id": f"file{self.files}-{n}", "choice": choice, "desk": FROM_FILE,
             "reasons": ["name"] if choice == "reject" else [], "revision": n}
            for n, (uid,) in enumerate(self.store.db.execute(query, (number,)))
        ]  # fmt: skip
        path = Path(self.folder.name) / f"{self.files}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        if rows:
            report = import_package_labels(self.store, self.project, Member(path, path.name), path.name)
            assert (report.imported, report.rejected) == (len(rows), 0)
            for person in annotators(self.store, self.project, active=False):
                self.seat(person)

    @rule(number=st.integers(0, 5))
    def undo_labels(self, number: int) -> None:
        there = [
            import_ for import_ in imports(self.store, self.project) if import_.kind == "labels" and not import_.undone
        ]
        if there:
            undo(self.store, self.project, there[number % len(there)].key)

    @rule(number=st.integers(0, 5), second=st.booleans())
    def settle_conflict(self, number: int, second: bool) -> None:
        there = [
            conflict.key for conflict in conflicts(self.store, self.project) if conflict.kind in ("label", "answer")
        ]
        if there:
            key = there[number % len(there)]
            (take_second if second else keep_first)(self.store, self.project, key)
            assert key not in {conflict.key for conflict in conflicts(self.store, self.project)}

    @precondition(lambda self: len(self.frozen) < 3)
    @rule()
    def release(self) -> None:
        if any(requirement.state == "missing" for requirement in readiness(self.store, self.project)):
            return
        version = f"1.{len(self.frozen)}"
        made = make_release(self.store, self.project, version)
        counted = counts(self.store, self.project)
        result = made.facts["total"]
        assert (made.items, result["kept"], result["mined"]) == (counted.accepted, counted.accepted, counted.items)
        assert made.hash == contents(self.store, self.project)
        self.frozen[version] = (made.hash, digest(release_files(self.store, made)))

    @rule()
    def every_count_is_the_same(self) -> None:
        store, made = self.store, self.project
        counted = counts(store, made)
        statuses = dict(store.db.execute(f"SELECT status, count(*) FROM item {PUBLISHED} GROUP BY status").fetchall())
        assert {key: getattr(counted, key) for key in ("pending", "accepted", "rejected")} == (
            {"pending": 0, "accepted": 0, "rejected": 0} | statuses
        )
        for status, number in statuses.items():
            assert search_items(store, made, Filters(status=status)).total == number
        assert search_items(store, made, Filters()).total == counted.items == sum(statuses.values())
        query = f"SELECT count(*) FROM assignment JOIN item ON item.id = item {PUBLISHED} WHERE {{}} IS NOT NULL"
        standing, blind = (store.db.execute(query.format(condition)).fetchone()[0] for condition in ("latest", "blind"))
        assert sum(person.labels for person in dashboard(store, made).people) == standing
        assert sum(labels * items for labels, items in counted.by_labels.items()) == blind
        by_labels = agreement(store, made, resampling=FEW_DRAWS, on="all").by_labels
        assert {key: by_labels.get(key, 0) for key in counted.by_labels if key} == {
            key: items for key, items in counted.by_labels.items() if key
        }

    @precondition(lambda self: self.files < 8)
    @rule(as_release=st.booleans())
    def it_comes_back_into_an_empty_database(self, as_release: bool) -> None:
        self.files += 1
        path = Path(self.folder.name) / f"{self.files}.zip"
        if as_release and self.frozen:
            last = releases(self.store, self.project)[-1]
            write_release(self.store, self.project, last, path)
            assert verify(path, store=self.store, release=last).intact
        elif counts(self.store, self.project).items:
            export_file(self.store, self.project, path, format="package")
        else:
            return
        with Store.open(Path(self.folder.name) / f"{self.files}.db") as empty, tables_in(path) as members:
            with trial(self.store) as same:  # the model's own counts are of one project
                second = import_package(same, "beside the first", members, path.name)
                assert second.project.id != self.project.id and broken_rules(same) == []
                assert contents(same, second.project) == (
                    last.hash if as_release and self.frozen else contents(same, self.project)
                )
            back = import_package(empty, "back", members, path.name)
            assert back.labels.errors == [] and broken_rules(empty) == []
            if as_release and self.frozen:
                assert contents(empty, back.project) == last.hash
                return
            assert contents(empty, back.project) == contents(self.store, self.project)
            assert gold(empty) == gold(self.store)
            before, after = counts(self.store, self.project), counts(empty, back.project)
            assert (after.accepted, after.rejected, after.by_labels) == (
                before.accepted, before.rejected, before.by_labels
            )  # fmt: skip
            assert figures(empty, back.project) == figures(self.store, self.project)
            assert import_package(empty, "back", members, path.name).labels.imported == 0

    # Invariants

    def no_operation_is_lost(self) -> None:
        query = "SELECT op_id, desk FROM label UNION ALL SELECT op_id, desk FROM skip UNION ALL"
        rows = self.store.db.execute(f"{query} SELECT op_id, desk FROM retest_label").fetchall()
        assert len({op for op, _ in rows}) == len(rows)
        assert {op for op, desk in rows if desk not in (TAKEN_BACK, LEAD, FROM_FILE)} == self.stored

    def nothing_is_stuck(self) -> None:
        for made in releases(self.store, self.project):
            assert self.frozen[made.version] == (made.hash, digest(release_files(self.store, made)))
        assert len(releases(self.store, self.project)) == len(self.frozen)
        self.now += LEASE_S + 1
        super().nothing_is_stuck()
        self.every_count_is_the_same()


def contents(store: Store, project: Project) -> str:
    """Return the hash that a release would have now: of the labels of annotators who consent to it."""
    people = pseudonyms(store, project)
    parts: Any = package_parts(store, project, author_codes(store, project, people), private=False)
    left_out = {code for name, code in people.items() if name not in consenting(store, project, "release")}
    shown = {
        name: [row for row in parts[name] if row.get("annotator") not in left_out]
        for name in ("items.jsonl", "gold.jsonl", "labels.jsonl", "records.jsonl")
    }
    return content_hash(contents_of(*shown.values()).entries.values())


def digest(files: dict[str, bytes]) -> str:
    """Return a hash of every byte of a release."""
    return hashlib.sha256(b"".join(name.encode() + content for name, content in sorted(files.items()))).hexdigest()


def gold(store: Store) -> list[Any]:
    """Return the gold label of each visible item."""
    return store.db.execute(f"SELECT uid, gold, status, labels FROM item {PUBLISHED} ORDER BY uid").fetchall()


def figures(store: Store, project: Project) -> list[float | None]:
    """Return agreement, to 12 digits."""
    result = agreement(store, project, resampling=FEW_DRAWS).overall
    values = (result.pairwise.value, result.fleiss.value, result.alpha.value, result.ac1.value)
    return [None if value is None else round(value, 12) for value in values]
