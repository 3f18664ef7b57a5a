"""proof.html of a release, opened from its folder in a browser: it finds what was changed, as the command does."""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.proof.checks import CHECKS
from evenhand.annotations.release.verify import verify
from evenhand.annotations.types import Project
from tests.support.released_project import SOURCE, everybody_consents, ready_project, rehearse, work

PASSWORD = "correct horse"
SERVER = {check.id for check in CHECKS if check.place == "server"}


def plain(store: Store) -> Project:
    """Return a project in which everybody labels everything, under a majority."""
    made = ready_project(store, 30, name="plain", gold="majority")
    work(store, made)
    return made


def partly_published(store: Store) -> Project:
    made = plain(store)
    answer_consent(store, made, annotators(store, made)[1], "release", given=False)
    return made


def doubled(store: Store) -> Project:
    """Return a project in which one annotator labels each item, and two label those of a sample of 8."""
    made = ready_project(store, 30, name="doubled", per_item=2, gold="majority")
    made = change_project(store, made, doubled=8)
    work(store, made)
    return made


def generations(store: Store) -> Project:
    made = make_generations_demo(store)
    everybody_consents(store, made)
    return change_project(store, made, licence="CC BY 4.0", source_statement=SOURCE)


def written(folder: Path, project_of: Callable[[Store], Project]) -> Path:
    with Store.open(folder / "labels.db") as store:
        project = project_of(store)
        made = make_release(store, project, "1.0", author="Vera", reason="for a test")
        return write_release(store, project, made, folder / "release", password=PASSWORD)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    context.set_offline(True)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield opened
    context.close()
    assert not errors


def proved(page: Page, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the result of each check that the page shows for a folder."""
    page.goto((folder / "proof.html").as_uri())
    page.set_input_files("#folder", folder)
    results = json.loads(page.locator("body[data-done]").get_attribute("data-done") or "")
    shown = [(row.get_attribute("data-check"), row.get_attribute("data-state")) for row in page.locator(".check").all()]
    assert shown == [(result["check"], result["state"]) for result in results]
    return {result["check"]: result for result in results}


def different(results: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Return the items that differ, by check."""
    return {
        check: [difference["item"] for difference in result["items"]]
        for check, result in results.items()
        if result["state"] == "different"
    }


def with_new_sums(folder: Path) -> None:
    """Write SHA256SUMS again, as a person who hides a change does."""
    names = [line[66:] for line in (folder / "SHA256SUMS").read_text().splitlines()]
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(sums))


@pytest.mark.parametrize("project_of", [rehearse, plain, partly_published, doubled, generations])
def test_page_and_command_recompute_the_same_numbers(
    page: Page, tmp_path: Path, project_of: Callable[[Store], Project]
) -> None:
    folder = written(tmp_path, project_of)
    results = proved(page, folder)
    assert not different(results)
    for result in verify(folder).checks:
        if result.check in SERVER:
            continue
        on_page = results[result.check]
        assert (on_page["state"], on_page["reason"]) == (result.state, result.reason), result.check
        assert on_page["unchecked"] == result.unchecked
        if isinstance(result.found, float):
            assert on_page["found"] == pytest.approx(result.found, abs=1e-12)
        else:
            assert on_page["found"] == result.found
    states = {check: result["state"] for check, result in results.items() if check not in SERVER}
    reasons = {result["reason"] for result in results.values()}
    if project_of is plain:
        assert set(states.values()) == {"equal"}
    elif project_of is partly_published:
        assert states["gold.labels"] == "unchecked" and states["agreement.full.labelled"] == "unchecked"
        assert "consent" in reasons and results["gold.labels"]["unchecked"] > 0
    elif project_of is doubled:  # an item with one label may want another one: the files do not tell the sample
        gold = results["gold.labels"]
        assert (gold["state"], gold["found"], gold["reason"], gold["unchecked"]) == ("equal", 8, "sample", 22)
        assert states["content.hash"] == states["labels.tables"] == states["agreement.alpha.labelled"] == "equal"
    elif project_of is generations:
        assert states["content.hash"] == "unchecked" and "locked" in reasons
        assert states["gold.labels"] == "equal" and states["agreement.ac1.labelled"] == "equal"


def test_a_changed_label_is_found_although_the_sums_fit(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, plain)
    table = folder / "labels.csv"
    head, row, *rest = table.read_text(encoding="utf-8").split("\n")
    item, annotator, choice, *cells = row.split(",")
    other = "reject" if choice == "accept" else "accept"
    table.write_text("\n".join([head, ",".join([item, annotator, other, *cells]), *rest]), encoding="utf-8")
    with_new_sums(folder)
    results = proved(page, folder)
    found = different(results)
    assert found["labels.tables"] == [f"{item} {annotator}"] and "files.sums" not in found
    measures = {f"agreement.{name}.labelled" for name in ("full", "pairwise", "fleiss", "alpha", "ac1")}
    assert measures | {"labels.choices"} <= set(found)
    assert results["content.hash"]["state"] == "equal"  # the package is as it was
    shown = page.locator('[data-check="labels.tables"]')
    expect(shown).to_contain_text(item)
    expect(shown).to_contain_text(other)
    assert different({result.check: json_of(result) for result in verify(folder).checks}) == found


def change_labels(folder: Path, item: str, number: int) -> None:
    """Turn the first labels of an item in the package and in the table, with sums that fit."""
    turned = {"accept": "reject", "reject": "accept"}
    operations, table = folder / "package/labels.jsonl", folder / "labels.csv"
    rows = [json.loads(line) for line in operations.read_text(encoding="utf-8").splitlines()]
    chosen = [row for row in rows if row["item"] == item][:number]
    for row in chosen:
        row["choice"] = turned[row["choice"]]
    operations.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    with table.open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    names = {row["annotator"] for row in chosen}
    for line in lines:
        if line[0] == item and line[1] in names:
            line[2] = turned[line[2]]
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *lines])
    with_new_sums(folder)


def test_a_label_that_decides_is_found_in_the_gold_labels_and_the_hash(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, plain)
    item = json.loads((folder / "package/labels.jsonl").read_text(encoding="utf-8").splitlines()[0])["item"]
    change_labels(folder, item, 3)
    found = different(proved(page, folder))
    assert found["gold.labels"] == [item] and "content.hash" in found and "labels.tables" not in found


@pytest.mark.parametrize("labels", [1, 2])
def test_a_changed_label_of_a_sample_that_is_labelled_twice_is_named(page: Page, tmp_path: Path, labels: int) -> None:
    """One label of an item of the sample, or the only label of another item."""
    folder = written(tmp_path, doubled)
    rows = [json.loads(line) for line in (folder / "package/labels.jsonl").read_text(encoding="utf-8").splitlines()]
    numbers = Counter(row["item"] for row in rows)
    decided = {row["item"] for row in map(json.loads, (folder / "kept.jsonl").read_text(encoding="utf-8").splitlines())}
    assert Counter(numbers.values()) == {1: 22, 2: 8}
    item = next(item for item, number in numbers.items() if number == labels and item in decided)
    change_labels(folder, item, 1)
    found = different(proved(page, folder))
    assert found["gold.labels"] == [item] and "content.hash" in found and "labels.tables" not in found
    expect(page.locator('[data-check="gold.labels"]')).to_contain_text(item)
    assert different({result.check: json_of(result) for result in verify(folder).checks}) == found


def test_a_changed_decision_is_found(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, rehearse)
    cases = folder / "hard_cases.jsonl"
    rows = [json.loads(line) for line in cases.read_text(encoding="utf-8").splitlines()]
    settled = next(row for row in rows if row["settlement"])
    settled["settlement"]["choice"] = "accept"
    cases.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    with_new_sums(folder)
    found = different(proved(page, folder))
    assert found["decisions.tables"] == [settled["item"]] and "decisions.choices" in found


def test_a_changed_and_a_missing_file_are_named(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, plain)
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    (folder / "kept.jsonl").unlink()
    (folder / "note.txt").write_text("<img src=x onerror=alert(1)>")
    found = different(proved(page, folder))
    assert found["files.sums"] == ["README.md", "kept.jsonl", "note.txt"]


def test_the_page_fits_a_telephone_in_both_languages(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, plain)
    proved(page, folder)
    for label, text in (("zh", "没有差异"), ("en", "No difference")):
        page.locator(f"label[for={label}]").click()
        expect(page.locator("#verdict")).to_contain_text(text)
        assert page.locator(f"#verdict .{label}").first.is_visible()
        assert (page.locator("html").evaluate("page => page.scrollWidth")) <= 390


def test_a_folder_can_be_dropped(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, plain)
    page.goto((folder / "proof.html").as_uri())
    box = page.locator("#folder").bounding_box()
    assert box is not None
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
        session.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})
    results = json.loads(page.locator("body[data-done]").get_attribute("data-done") or "")
    assert {result["state"] for result in results if result["check"] not in SERVER} == {"equal"}


def test_a_folder_without_a_release_is_named(page: Page, tmp_path: Path) -> None:
    folder = written(tmp_path, plain)
    page.goto((folder / "proof.html").as_uri())
    page.set_input_files("#folder", folder / "guideline")
    expect(page.locator("#verdict h2")).to_contain_text("This folder holds no release")


def json_of(result: Any) -> dict[str, Any]:
    return {"state": result.state, "items": [{"item": difference.item} for difference in result.items]}
