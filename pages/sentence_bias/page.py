"""Try a sentence: which word of a pair would a model rather write at the slot?"""

from pages.sentence_bias.compare_words import show_words_view
from pages.sentence_bias.inputs import ask
from pages.sentence_bias.one_sentence import show_gallery, show_sentence_view
from pages.ui.head import page_head
from pages.ui.language import _

page_head(
    _("Try a sentence"),
    _(
        "Which word would a model rather write at the slot? Both words may be strange to it: look first at how much "
        "they get together."
    ),
)
view, models, question = ask()
if view == "gallery":
    show_gallery()
elif view == "words":
    show_words_view(models, question)
else:
    show_sentence_view(models, question)
