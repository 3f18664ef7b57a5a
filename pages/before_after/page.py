"""Before and after: what a change to a model moved, what it did not, and what was lost; also as people judge it.

People judge generations before and after without knowing which is which.
"""

from evenhand.pages.before_after.grids import show_grids, show_new_grid
from evenhand.pages.before_after.people import show_people
from evenhand.pages.before_after.results import show_finished, show_new
from evenhand.pages.before_after.two_runs import show_two_runs
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.jobs import follow
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "Did a change to a model help, and what did it cost? The same items are scored by the model before, the"
    " models after, and placebos trained for as long on unswapped text. Held-out text measures the cost."
)
way = choose(
    _("What is compared"),
    {
        "models": _("A model before and after"),
        "grid": _("A grid of models"),
        "runs": _("Finished runs"),
        "people": _("Judged by people"),
    },
    "ba-way",
    address="compare",
    heading=False,
)
if way == "runs":
    with open_store() as opened:
        show_two_runs(opened)
elif way == "people":
    with open_store() as opened:
        show_people(opened)
elif way == "grid":
    with open_store() as opened:
        show_new_grid(opened)
    follow("tune-grid")
    with open_store() as opened:
        show_grids(opened)
else:
    with open_store() as opened:
        show_new(opened)
    follow("before-after")
    with open_store() as opened:
        show_finished(opened)
