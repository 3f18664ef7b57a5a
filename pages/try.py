"""Try a sentence: which word of a pair would a model rather write at the slot?"""

from pages._try_inputs import ask
from pages._try_style import style
from pages._try_views import show_gallery, show_sentence_view
from pages._try_words import show_words_view
from pages._widgets import _, page_head

page_head(
    _("Try a sentence"),
    _(
        "Which word would a model rather write at the slot? Both words may be strange to it: look first at how much "
        "they get together."
    ),
)
style()
view, models, question = ask()
if view == "gallery":
    show_gallery()
elif view == "words":
    show_words_view(models, question)
else:
    show_sentence_view(models, question)
