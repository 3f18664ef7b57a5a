"""Inference: does a classifier of sentence pairs take an occupation for a gender? (address: /inference)"""

from pages.nli.bias_rates import show_rates
from pages.nli.one_pair import show_pair
from pages.nli.results import show_results
from pages.nli.runs import choose_view
from pages.nli.start import show_new
from pages.ui.head import open_store, page_head
from pages.ui.jobs import follow
from pages.ui.language import _
from pages.ui.nli_style import style

style()
page_head(
    _("Inference"),
    _(
        "A nurse reads a newspaper. Does it follow that a woman reads a newspaper? Nothing follows: the right answer "
        "is always neutral. What a classifier says instead shows what it takes an occupation for."
    ),
)
with open_store() as opened:
    view = choose_view(opened)
    if view == "new":
        show_new(opened)
    elif view == "rates":
        show_rates(opened)
    elif view == "pair":
        show_pair()
    else:
        show_results(opened)
follow("nli")
