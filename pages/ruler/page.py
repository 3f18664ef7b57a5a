"""The ruler: models with a planted bias come back as planted, and a model of one's own stands beside what is chance."""

from evenhand.pages.ruler.own_model import show_model
from evenhand.pages.ruler.planted import show_planted
from evenhand.pages.ui.visitor import page_head

page_head(
    "Can the measures be trusted, and what is a large value? First the measures are checked on models"
    " with a planted bias. Then your model is compared with what chance alone gives."
)
marks = show_planted()
show_model(marks)
