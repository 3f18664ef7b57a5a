"""The address of every page with the demo projects."""

from collections.abc import Iterator

from evenhand.annotations.demo import generation_texts, sentences
from evenhand.pages.catalogue import PAGES, PageSpec


def projects_of(spec: PageSpec) -> tuple[str, ...]:
    """Return the demo projects to open a page with; one empty name for a page about none."""
    return (sentences.NAME, generation_texts.NAME) if spec.areas[0] in ("step", "project") else ("",)


def queries() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address and the query of every page, and of the slides of the presenter mode."""
    for spec in PAGES:
        for project in projects_of(spec):
            yield spec.address, {"project": project} if project else {}
    for guess in ({}, {"guess": "male"}):
        yield "sentence-bias", {"present": "1", **guess}
