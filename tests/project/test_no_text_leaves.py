"""No unencrypted output contains a text that a model wrote: every export, every download of every page."""

import io
import zipfile

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME, make_generations_demo
from evenhand.annotations.files.export import export_file, export_preview
from evenhand.annotations.files.export_formats import EXPORT_FORMATS, HOLD_TEXT, export_options, formats_of
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, change_project, project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.text_policy import CANARY_ID
from evenhand.annotations.types import Operation
from evenhand.core.errors import Refused
from tests.support.pages import open_page

PASSWORD = "correct horse"
OPEN = [export_format for export_format in EXPORT_FORMATS if export_format not in HOLD_TEXT]
WORDS = 5  # that many words in a row are a text's own


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory):
    """Return the demo, with a note that quotes a text in full."""
    path = tmp_path_factory.mktemp("exits") / "demo.db"
    with Store.open(path) as store:
        made = make_generations_demo(store)
        person = annotators(store, made)[0]
        (item,) = claim(store, made, person, want=1)
        quoting = Operation(
            "quoting", item.uid, "no_pronoun", "desk", 1, note=f"It says: {item.text}", extraneous=False
        )
        assert store_operations(store, made, person, [quoting])[0].stored
    return path


@pytest.fixture
def store(demo_file, tmp_path):
    target = tmp_path / "evenhand.db"
    target.write_bytes(demo_file.read_bytes())
    with Store.open(target) as opened:
        yield opened


def pieces(store: Store) -> set[str]:
    """Return every five words in a row of every context and completion."""
    results = set()
    for item in items(store, project(store, NAME)):
        for text in (item.context or "", item.text):
            words = text.split()
            results |= {" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}
    assert len(results) > 1_000
    return results


def hits(data: bytes, wanted_pieces: set[str]) -> list[str]:
    text = " ".join(data.decode("utf-8", "replace").replace('""', '"').split())
    return [piece for piece in wanted_pieces if piece in text]


def test_the_search_finds_an_embedded_text(store):
    text = next(items(store, project(store, NAME))).text
    assert hits(f"before {text} after".encode(), pieces(store))


@pytest.mark.parametrize("layout", OPEN)
@pytest.mark.parametrize("history", [False, True], ids=["latest", "history"])
def test_an_open_export_contains_no_text(store, tmp_path, layout, history):
    stored = project(store, NAME)
    out = tmp_path / "out"
    report = export_file(store, stored, out, format=layout, names=True, history=history)
    assert not report.encrypted
    assert not hits(out.read_bytes(), pieces(store))
    assert not hits(
        export_preview(store, stored, export_options(layout, history=history), limit=10**6).encode(), pieces(store)
    )


@pytest.mark.parametrize("layout", [one for one in HOLD_TEXT if one != "slguset"])
def test_an_export_with_text_is_encrypted(store, tmp_path, layout):
    stored = project(store, NAME)
    with pytest.raises(Refused, match=r"The texts of .* can only be exported encrypted\. Give a password"):
        export_file(store, stored, tmp_path / "out", format=layout)
    assert not (tmp_path / "out").exists()
    report = export_file(store, stored, tmp_path / "out", format=layout, password=PASSWORD)
    assert report.out == tmp_path / "out.zip"
    assert not hits(report.out.read_bytes(), pieces(store))


def test_the_search_of_an_opened_project_finds_its_texts_and_the_canary(store, tmp_path):
    opened = change_project(store, project(store, NAME), open_text=True)
    for layout in formats_of(opened):
        report = export_file(store, opened, tmp_path / layout, format=layout)
        data = report.out.read_bytes()
        if report.out.suffix == ".zip":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            data = b"\n".join(parts.values())
            if layout == "package":
                carriers = {name.removesuffix(".jsonl") for name, part in parts.items() if CANARY_ID.encode() in part}
                assert {"items", "labels", "decisions", "records"} <= carriers
                assert b"\\documentclass" in parts["datasheet.tex"]
        without = layout.startswith(("soft-labels", "disaggregated"))  # labels by item, without a text or a note
        assert bool(hits(data, pieces(store))) is not (without or layout.startswith("datasheet")), layout
        assert without or CANARY_ID.encode() in data.replace(b"\\allowbreak{}", b""), layout


def test_the_command_line_prints_no_text(store, tmp_path, monkeypatch):
    monkeypatch.delenv("EVENHAND_PASSWORD", raising=False)
    known = pieces(store)
    store.close()
    for arguments in (
        ["export", NAME, str(tmp_path / "x"), "--format", "jsonl"],
        ["project", "show", NAME, "--json"],
        ["project", "aside", NAME, "--json"],
        ["agreement", NAME, "--json"],
    ):
        result = CliRunner().invoke(cli, arguments)
        assert not hits(result.output.encode(), known), arguments
    assert not (tmp_path / "x").exists()


PAGES = (
    "projects",
    "agreement",
    "adjudication",
    "human_vs_rule",
    "jobs",
    "home",
    "model_bias",
)


@pytest.mark.parametrize("page", PAGES)
def test_no_download_of_a_page_contains_a_text(store, monkeypatch, page):
    """Every file that a page offers is made and searched; a page that offers none must not have lost its downloads."""
    import streamlit as st

    known, made = pieces(store), []

    def collect_download(_self, label, data, *_more, **_named):
        if label != "PNG":  # a picture of the same chart as the SVG, in which no text can be looked for
            made.append((label, data() if callable(data) else data))
        return False

    monkeypatch.setattr(st.delta_generator.DeltaGenerator, "download_button", collect_download)
    monkeypatch.setattr(st, "download_button", lambda *more, **named: collect_download(None, *more, **named))
    store.close()
    app = open_page(page, project=NAME)
    if page == "projects":
        app.segmented_control(key="section").set_value("export").run()
        for layout in OPEN:
            app.radio(key="export_format").set_value(layout).run()
            assert not app.exception
    for label, data in made:
        content = data if isinstance(data, bytes) else str(data).encode()
        assert not hits(content, known), label
    if page in ("projects", "agreement", "human_vs_rule"):
        assert made, "this page offers files; the search found none to look into"
