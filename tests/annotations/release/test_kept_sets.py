"""The kept items in every layout: each file has the bytes of the export of its own."""

from dataclasses import replace

from evenhand.annotations.files.export import export_lines
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.release.labelled_files import KeptSets
from tests.support.released_project import rehearse


def test_released_layouts_equal_the_exports(fresh_store):
    made = rehearse(fresh_store)
    wish = ExportOptions("jsonl", "accepted", locked=True)
    kept = KeptSets(
        fresh_store, made, wish, [annotator.name for annotator in annotators(fresh_store, made, active=False)]
    )
    files = {"slguset": kept.table.done()[0], "jsonl": kept.items.done(), "label-studio": kept.tasks.done()}
    for name, file in files.items():
        text = "".join(export_lines(fresh_store, made, replace(wish, format=name)))
        assert file.content().decode() == text and text.count("\n") > 2, name
    nobody = KeptSets(fresh_store, made, wish, [])
    assert nobody.tasks.done().content() != files["label-studio"].content()
    assert nobody.items.done().content() == files["jsonl"].content()
