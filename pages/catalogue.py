"""The table of pages: navigation, rail, permissions, links to results, docs and tests read it."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from evenhand.annotations.permissions import Action
from evenhand.core.errors import N_

# Where a page is in the rail: a step of a project, another page of a project, or a group of links.
Area = Literal["top", "step", "project", "texts", "models", "measures", "server"]


@dataclass(frozen=True, slots=True)
class PageSpec:
    """One page, pages/<folder>/page.py.

    *title*: English; pages translate it. *icon*: its name in Material Symbols. *action*: what a visitor must be allowed
    to do in some project to open the page; None: everybody may open it. *areas*: its groups in the rail, its own first.
    *commands*: the commands whose runs it shows.
    """

    folder: str
    title: str
    icon: str
    action: Action | None
    areas: tuple[Area, ...]
    commands: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The path of the script below pages/, by which Streamlit knows the page."""
        return f"{self.folder}/page.py"

    @property
    def address(self) -> str:
        """The path of the page in the browser, without a slash; "" for the home page."""
        return "" if self.folder == "home" else self.folder.replace("_", "-")

    @property
    def symbol(self) -> str:
        """The icon as Streamlit's widgets take it."""
        return f":material/{self.icon}:"


PAGES = (
    PageSpec("home", N_("Home"), "home", None, ("top",)),
    PageSpec("projects", N_("Projects"), "folder_open", "change_projects", ("top",)),
    PageSpec("mining", N_("Mine"), "filter_alt", "start_jobs", ("texts",), ("mine",)),
    PageSpec("generation", N_("Generate"), "edit_note", "start_jobs", ("texts", "models"), ("generate",)),
    PageSpec("concordance", N_("Concordance"), "format_align_center", "start_jobs", ("texts",)),
    PageSpec("swap", N_("Counterfactual texts"), "swap_horiz", "start_jobs", ("texts",)),
    PageSpec("pilot", N_("Pilot and guideline"), "flag", "change_projects", ("step",)),
    PageSpec("plan", N_("Labelling plan"), "event_note", "change_projects", ("step",)),
    PageSpec("review", N_("Review"), "rate_review", "label", ("step",)),
    PageSpec("adjudication", N_("Adjudicate"), "gavel", "settle", ("step",)),
    PageSpec("progress", N_("Progress"), "trending_up", "see_names", ("step",)),
    PageSpec("agreement", N_("Agreement"), "handshake", "see_agreement", ("step",)),
    PageSpec("quality", N_("Quality"), "verified", "see_names", ("step",)),
    PageSpec("describe", N_("Data set statistics"), "bar_chart", "see_agreement", ("step",)),
    PageSpec("release", N_("Release"), "inventory_2", "see_releases", ("step",)),
    PageSpec("browse", N_("Browse"), "search", "see_names", ("project",)),
    PageSpec("human_vs_rule", N_("Human vs. automatic rule"), "rule", "see_all_labels", ("project",)),
    PageSpec("judges", N_("Judges"), "smart_toy", "change_projects", ("project",)),
    PageSpec("record", N_("My record"), "history", "see_own_labels", ("project",)),
    PageSpec("study", N_("Online studies"), "link", "change_projects", ("project",)),
    PageSpec("guideline", N_("Guideline"), "menu_book", "see_guideline", ("project",)),
    PageSpec("sentence_bias", N_("Try a sentence"), "balance", "try_models", ("models",)),
    PageSpec("scoring", N_("Score a file"), "playlist_play", "start_jobs", ("models",)),
    PageSpec("model_bias", N_("Models side by side"), "compare_arrows", "measure", ("models",), ("score",)),
    PageSpec("tune", N_("Tune a model"), "model_training", "start_jobs", ("models",), ("tune",)),
    PageSpec(
        "before_after", N_("Before and after"), "compare", "start_jobs", ("models",), ("tune-grid", "before-after")
    ),
    PageSpec("ruler", N_("Reference scale"), "straighten", "measure", ("models",)),
    PageSpec("published", N_("Published numbers"), "fact_check", "measure", ("models",)),
    PageSpec("association", N_("Professions"), "work", "measure", ("measures",), ("association",)),
    PageSpec("nli", N_("NLI bias"), "alt_route", "measure", ("measures",), ("nli",)),
    PageSpec("misgendering", N_("Misgendering"), "record_voice_over", "measure", ("measures",), ("misgendering",)),
    PageSpec("other_measures", N_("Other measures"), "square_foot", "measure", ("measures",)),
    PageSpec("jobs", N_("Jobs"), "schedule", "see_jobs", ("server",)),
    PageSpec("accounts", N_("Accounts"), "group", None, ("server",)),
    PageSpec("about", N_("About"), "info", None, ("server",)),
)


@cache
def page_at(address: str) -> PageSpec:
    """Return the page with an address. Raises KeyError for an address that no page has."""
    return {page.address: page for page in PAGES}[address]


@cache
def page_in(folder: str) -> PageSpec:
    """Return the page in a folder. Raises KeyError for a folder without a page."""
    return {page.folder: page for page in PAGES}[folder]


@cache
def addresses_in(*areas: Area) -> frozenset[str]:
    """Return the addresses of the pages whose own area is one of *areas*."""
    return frozenset(page.address for page in PAGES if page.areas[0] in areas)


@cache
def pages_in(area: Area) -> tuple[PageSpec, ...]:
    """Return the pages that the rail lists in an area: its own first, then those of other areas."""
    return tuple(sorted((page for page in PAGES if area in page.areas), key=lambda page: page.areas[0] != area))


@cache
def page_of_command(command: str) -> PageSpec | None:
    """Return the page that shows the runs of a command; None for a command without one."""
    return next((page for page in PAGES if command in page.commands), None)
