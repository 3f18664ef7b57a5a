"""The import formats and their readable names: the one list that the command, the pages and reports read."""

from collections.abc import Mapping

from evenhand.annotations.files.other_tools.tasks import PROGRAMS
from evenhand.core.errors import N_

# In the order in which they are offered. A format that is missing here cannot be chosen anywhere.
FORMAT_NAMES: Mapping[str, str] = {
    "auto": N_("Detect automatically"),
    "slguset": N_("Released SlguSet columns"),
    "sentences": N_("Sentences"),
    "candidates": N_("Mined candidates"),
    "generations": N_("Generations"),
    "labels": N_("Labels exported by this app"),
    "package": N_("Project package"),
    **PROGRAMS,
}
