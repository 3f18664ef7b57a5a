"""The ruler: models with a planted bias come back as planted, and a model of one's own stands beside what is chance."""

from pages.ruler.own_model import show_model
from pages.ruler.planted import show_planted
from pages.ui.head import page_head
from pages.ui.language import _

page_head(
    _("Reference scale"),
    _(
        "Can these numbers be trusted, and what is a large one? First the ruler is checked on models with a "
        "planted lean. Then your model is measured, beside what chance alone gives."
    ),
)
marks = show_planted()
show_model(marks)
