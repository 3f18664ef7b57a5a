"""The sections of the page Misgendering: only the one that is looked at is drawn; its views are imported here."""

from typing import Literal

from pages.ui.choose import choose
from pages.ui.language import _

Section = Literal["results", "new", "try", "published", "which"]


def choose_section() -> Section:
    """Which section; kept in the address."""
    names: dict[Section, str] = {
        "results": _("Results"),
        "new": _("Start a run"),
        "try": _("How it works"),
        "published": _("Published numbers"),
        "which": _("Which way fits"),
    }
    return choose(_("Section"), names, "section", address="section", heading=False)


def show_section(section: Section) -> None:
    """Draw one section."""
    if section == "results":
        from pages.misgendering.results import show_results

        show_results()
    elif section == "new":
        from pages.misgendering.start import show_new

        show_new()
    elif section == "try":
        from pages.misgendering.how_it_works import show_try

        show_try()
    elif section == "published":
        from pages.misgendering.published import show_published

        show_published()
    else:
        from pages.misgendering.which_way import show_which

        show_which()
