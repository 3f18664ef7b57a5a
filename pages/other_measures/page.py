"""Other measures: the survey's measures exactly as named, each beside its null, a control and what is known of it."""

from evenhand.pages.other_measures.methods import show_methods
from evenhand.pages.other_measures.own import show_own
from evenhand.pages.other_measures.results import show_finished
from evenhand.pages.other_measures.start import MEASURED, show_new
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import open_store, page_head
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.text import _

page_head(
    "Gender bias of a model by measures from the literature, each as originally defined, next to a randomly initialised"
    " copy, a control without gender, and its known limitations. None of them ranks models."
)
with open_store() as opened:
    names = {
        "measure": _("New measurement"),
        "results": _("Results"),
        "own": _("Own predictions and vectors"),
        "methods": _("Map of methods"),
    }
    first = "results" if MEASURED.finished(opened) else "measure"
    view = choose(_("View"), names, "view", first=first, address="view", heading=False)
    if view == "measure":
        show_new(opened)
follow("other-measures")
if view == "results":
    with open_store() as opened:
        show_finished(opened)
elif view == "own":
    show_own()
elif view == "methods":
    show_methods()
