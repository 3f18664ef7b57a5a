"""Try a sentence: which word of a pair would a model rather write at the slot?"""

from evenhand.pages.sentence_bias.inputs import ask
from evenhand.pages.sentence_bias.one_sentence import show_gallery, show_sentence_view, show_words_view
from evenhand.pages.ui.visitor import page_head

page_head(
    "Which word does a model prefer at the slot? First check how much probability the two words share;"
    " if little, the ratio means little."
)
view, models, question = ask()
if view == "gallery":
    show_gallery()
elif view == "words":
    show_words_view(models, question)
else:
    show_sentence_view(models, question)
