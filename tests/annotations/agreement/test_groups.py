"""Groups of annotators: small ones are never shown, own answers override the lead's, erasure removes them."""

import json

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.agreement.groups import group_differences
from evenhand.annotations.database.store import Store
from evenhand.annotations.log.erasure import erase
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.annotators import annotator
from evenhand.annotations.projects.consent import add_grouping, groups_of, own_groups, set_group
from evenhand.annotations.types import Project
from evenhand.core.errors import NotAllowed, Refused
from tests.support.agreed_labels import label, make, texts
from tests.support.pages import open_page

NORTH, SOUTH = [f"north {n}" for n in range(5)], [f"south {n}" for n in range(5)]


def labelled(store: Store) -> Project:
    """Make a project of ten people, two items: north and south agree on the first, and never on the second."""
    project = make(store, 2, (*NORTH, *SOUTH), per_item=10)
    first, second = texts(store, project)
    for name in (*NORTH, *SOUTH):
        label(store, project, name, {first: "accept", second: "accept" if name in NORTH else "reject"})
    return project


def put(store: Store, project: Project, names: list[str], group: str) -> None:
    (of,) = {group.grouping for group in own_groups(store, project, annotator(store, project, names[0]))}
    for name in names:
        set_group(store, project, of, annotator(store, project, name), group, "lead")


def test_agreement_within_two_groups_and_the_most_divided_item(fresh_store: Store) -> None:
    project = labelled(fresh_store)
    of = add_grouping(fresh_store, project, "dialect", ("north", "south", "east"))
    put(fresh_store, project, NORTH, "north")
    put(fresh_store, project, SOUTH[:4], "south")
    small = group_differences(fresh_store, project, of)
    assert (small.pair, small.small, small.choices, small.items) == (None, 1, (), ())
    assert "at least 5 people" in str(small.reason) and [group.name for group in small.groups] == ["north"]
    put(fresh_store, project, SOUTH[4:], "south")
    result = group_differences(fresh_store, project, of)
    assert result.pair == ("north", "south") and result.small == 0
    assert [(choice.choice.code, choice.first, choice.second) for choice in result.choices] == [
        ("accept", 1, 0.5),
        ("reject", 0, 0.5),
    ]
    surest, same = result.items
    assert (surest.first, surest.second, surest.apart) == ((5, 0), (0, 5), 1.0)
    assert (surest.p, surest.adjusted) == pytest.approx((2 / 252, 4 / 252)) and surest.differs
    assert (same.apart, same.p, same.differs, result.differing) == (0.0, 1.0, False, 1)
    assert group_differences(fresh_store, project, of, ("south", "north")).choices[0].difference.value == -0.5
    with pytest.raises(Refused, match="at least 5 people"):
        group_differences(fresh_store, project, of, ("north", "east"))


def test_an_own_answer_overrides_and_is_erased_with_the_person(fresh_store: Store) -> None:
    project = make(fresh_store, 1, ("Ada", "Bo"))
    of = add_grouping(fresh_store, project, "L1", ("Wu", "Yue"))
    ada = annotator(fresh_store, project, "Ada")
    set_group(fresh_store, project, of, ada, "Wu", "lead")
    set_group(fresh_store, project, of, ada, "Yue", "annotator")
    with pytest.raises(NotAllowed, match="Ada has chosen"):
        set_group(fresh_store, project, of, ada, "Wu", "lead")
    with pytest.raises(Refused, match="has no group Min"):
        set_group(fresh_store, project, of, ada, "Min", "annotator")
    for name, options in (("L1", ("a", "b")), ("L2", ("a",))):
        with pytest.raises((NotAllowed, Refused)):
            add_grouping(fresh_store, project, name, options)
    assert groups_of(fresh_store, of) == {ada.id: "Yue"}
    erase(fresh_store, "Ada")
    assert groups_of(fresh_store, of) == {}
    salts = fresh_store.db.execute("SELECT count(*) FROM log_salt WHERE kind = 'annotator_group'").fetchone()
    assert salts == (0,) and verify(fresh_store).kinds["annotator_group"] == 4


def test_groups_by_command_and_page(fresh_store: Store) -> None:
    project = labelled(fresh_store)

    def answer_to(*arguments: str) -> dict[str, object]:
        result = CliRunner().invoke(cli, [*arguments, "--db", str(fresh_store.path), "--json"], catch_exceptions=False)
        return dict(json.loads(result.stdout))

    answer_to("groupings", project.name, "--add", "dialect", "--group", "north", "--group", "south")
    sides = [f"--put={name}={name[:5]}" for name in (*NORTH, *SOUTH[:4])]
    result = answer_to("groupings", project.name, "--by", "dialect", *sides)
    assert result == {"groupings": [{"grouping": "dialect", "groups": {"north": 5, "south": 4}}]}
    page = open_page("record", project=project.name, annotator=SOUTH[4], view="use")
    page.selectbox[-1].set_value("south").run()
    assert not page.exception
    found = answer_to("group-differences", project.name, "dialect")
    assert (found["compared"], found["differing"]) == (["north", "south"], 1)
    shown = open_page("agreement", project=project.name, view="groups")
    assert any("on 1 the groups differ beyond chance" in block.value.replace("\\", "") for block in shown.markdown)
