"""Misgendering: what a model finds likely against what it writes, and what people say of it."""

from evenhand.pages.ui.choose import show_view
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import page_head


def views() -> dict[str, tuple[str, str]]:
    """Return the title of each section and the function of this folder that draws it."""
    return {
        "results": (_("Results"), "results:show_results"),
        "new": (_("Start a run"), "start:show_new"),
        "try": (_("How it works"), "explanations:show_conversions"),
        "published": (_("Published numbers"), "published:show_published"),
        "which": (_("Choosing a method"), "explanations:show_which"),
    }


page_head(
    "Does a model use a person's pronouns? Two methods measure this: which form is most probable to the"
    " model, and which form it generates. The page shows both and how far they agree."
)
with open_view({name: title for name, (title, _place) in views().items()}, "section", address="section") as section:
    show_view(f"misgendering.{views()[section][1]}")
