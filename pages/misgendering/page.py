"""Misgendering: what a model finds likely against what it writes, and what people say of it."""

from pages.misgendering.misgender_sections import choose_section, show_section
from pages.ui.head import page_head
from pages.ui.language import _
from pages.ui.misgender_style import style

page_head(
    _("Misgendering"),
    _(
        "Does a model use a person's pronouns? Two ways of asking (which form it finds likeliest, and what it writes),"
        " and how far they agree."
    ),
)
style()
section = choose_section()
show_section(section)
