"""Mine: from raw text to a balanced queue of candidate sentences."""

from pages._widgets import _, page_head

page_head(
    _("Mine"),
    _(
        "Point at a folder of text and get, for each keyword pair and side, sentences ready for annotators, and for"
        " every rejected one the reason."
    ),
)
