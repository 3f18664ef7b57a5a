"""Published numbers: real models from published scores, and what the papers print, worked out again."""

from evenhand.pages.published.claims import how_it_is_checked, own_numbers, show_claims, show_totals
from evenhand.pages.published.models import show_correlations, show_source, show_stereotypes, show_yours
from evenhand.pages.ui.results import open_view
from evenhand.pages.ui.text import _
from evenhand.pages.ui.visitor import page_head

MODELS = {"stereotypes": show_stereotypes, "correlation": show_correlations, "yours": show_yours}

page_head(
    "34 real models on 3,565 English sentences of 16 gender stereotypes, by the scores that GEST published (2024);"
    " nothing is run. And whether the numbers of papers follow from each other."
)
titles = {
    "stereotypes": _("Stereotypes"), "correlation": _("Correlation"), "yours": _("Your model"),
    "papers": _("Check of the papers"), "own": _("Your own values"),
}  # fmt: skip
with open_view(titles, "published-view") as view:
    if view in MODELS:
        MODELS[view]()
        show_source()
    elif view == "papers":
        show_totals()
        show_claims()
        how_it_is_checked()
    else:
        own_numbers()
