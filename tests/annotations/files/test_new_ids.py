"""A package imported as another project: equal contents, with new ids where the old ones are taken."""

from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.write_package import PackageImport, import_package
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import create_project, guidelines, projects
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.types import Project
from evenhand.core.errors import Refused
from tests.support.released_project import ready_project, rehearse


def bring(store: Store, name: str, release: Path) -> PackageImport:
    with tables_in(release) as members:
        return import_package(store, name, members, release.name)


def ids(store: Store, project: Project) -> set[str]:
    return {item.uid for item in items(store, project)}


def test_a_release_is_restored_under_another_name(fresh_store: Store, tmp_path: Path) -> None:
    """With two versions of the guideline; in its own database, and in an existing project."""
    study = rehearse(fresh_store, 24)
    first = make_release(fresh_store, study, "1.0")
    out = write_release(fresh_store, study, first, tmp_path / "r")
    with Store.open(tmp_path / "new.db") as other:
        create_project(other, "back", annotators=("Somebody",))
        for store in (fresh_store, other):
            reports = [bring(store, "back", out) for _ in range(2)]
            assert [(report.labels.rejected, report.labels.errors) for report in reports] == [(0, [])] * 2
            assert reports[1].labels.imported == 0
            back = reports[0].project
            assert back == reports[1].project
            assert make_release(store, back, "1.0").hash == first.hash
            assert len(guidelines(store, back)) == len(guidelines(fresh_store, study)) > 1
        assert [project.name for project in projects(other, archived=True)] == ["back (empty 1)"]
        assert ids(other, back) == ids(fresh_store, study)
    again = next(project for project in projects(fresh_store) if project.name == "back")
    assert ids(fresh_store, again).isdisjoint(ids(fresh_store, study))
    # The items of another project do not go to an annotator who already works in a project.
    with pytest.raises(Refused, match=r"\. Import the file as a separate project under a name that is not taken\."):
        bring(fresh_store, ready_project(fresh_store, 1, name="used").name, out)
