"""Topic words in the report (Table 7 of the paper): both sides of a model by both methods, as a table."""

import html

import pandas as pd

from evenhand.core.errors import N_
from evenhand.core.language import Say
from evenhand.core.model_bias.topic_words import topic_words
from evenhand.core.sentence_bias.bias import OBVIOUS

NAMES = {"tfidf": "TF-IDF", "textrank": "TextRank"}


def words_of(rows: pd.DataFrame, *, top: int = 5, value: str = "bias_log10") -> pd.DataFrame:
    """`model_bias.topic_words` of the sentences of one model that lean obviously, shuffled within keyword pairs."""
    male, female = rows[rows[value] > OBVIOUS], rows[rows[value] < -OBVIOUS]
    return topic_words(
        male["sentence"].tolist(),
        female["sentence"].tolist(),
        keywords=[word for pair in rows["pair"].drop_duplicates() for word in pair.split("/")],
        top=top,
        strata=(male["pair"].tolist(), female["pair"].tolist()),
    )


def words_html(rows: pd.DataFrame, model: str, say: Say) -> str:
    """A table of one model: a line per side and method. Words whose contrast stays after Holm have an asterisk."""
    found = words_of(rows)
    head = f"<h3>{html.escape(model)}</h3>"
    if found.empty:
        nothing = say(N_("No sentence leans obviously either way."))
        return f"{head}<p class=note>{html.escape(nothing)}</p>"
    sides = {"female": say(N_("female word")), "male": say(N_("male word"))}
    lines = []
    for side, name in sides.items():
        for method, title in NAMES.items():
            some = found[(found["side"] == side) & (found["method"] == method)]
            words = "、".join(
                word + (" *" if stays else "") for word, stays in zip(some["word"], some["stays"], strict=True)
            )
            cells = "".join(f"<td>{html.escape(text)}</td>" for text in (title, words or "—"))
            lines.append(f'<tr><th scope="row" class="models-side {side[0]}">{html.escape(name)}</th>{cells}</tr>')
    return f'{head}<table class="words">{"".join(lines)}</table>'
