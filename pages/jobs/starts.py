"""Which page starts which kind of job (annotations/jobs/kinds.py), for a page without jobs."""

from evenhand.core.errors import N_
from evenhand.pages.catalogue import page_in
from evenhand.pages.ui.text import _, inform, plain
from evenhand.pages.ui.visitor import page_link

# The folder of a page, what its jobs do, and their kinds.
STARTS = (
    ("projects", N_("importing a large file, or undoing an import"), ("import", "undo")),
    ("pilot", N_("sending items back for relabelling"), ("guideline send-back",)),
    ("release", N_("making a release, or uploading it"), ("release", "hub push")),
    ("judges", N_("labels of a judge"), ("judge run", "judge again", "judge import")),
    ("mining", N_("finding candidates in a corpus"), ("mine",)),
    ("generation", N_("letting a model write"), ("generate",)),
    ("scoring", N_("scoring a file"), ("score",)),
    ("tune", N_("tuning a model"), ("tune", "tune-grid")),
    ("before_after", N_("comparing models before and after"), ("before-after",)),
    ("association", N_("associations of professions"), ("association",)),
    ("nli", N_("asking a classifier"), ("nli ask", "nli rates")),
    ("misgendering", N_("misgendering by a model"), ("misgendering run",)),
    ("other_measures", N_("a measure from the literature"), ("other-measures",)),
)


def show_starts() -> None:
    """Show which pages start a job, and for what."""
    inform("No jobs. These pages start one:")
    for folder, work, _kinds in STARTS:
        spec = page_in(folder)
        page_link(spec.file, label=f"**{_(spec.title)}** {plain(_(work))}", icon=spec.symbol)
