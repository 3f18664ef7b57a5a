"""Labels of older versions of a guideline that go back to their annotators, as it is asked for."""

from dataclasses import dataclass

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.relabelling import RelabelCounts, Which, send_for_relabelling
from evenhand.annotations.projects.projects import guideline, named_project
from evenhand.core.runs.kinds import JobKind, Place


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the command `guideline send-back`; `version` None: the one in use; `also`: codes, by commas."""

    name: str
    version: int | None = None
    which: Which = "none"
    also: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True)
class RelabellingStarted:
    """The version whose older labels were sent back, and how many."""

    version: int
    sent_back: RelabelCounts


def codes_in(joined: str) -> list[str]:
    """Return the codes of a text that separates them by commas."""
    return [code.strip() for code in joined.split(",") if code.strip()]


def run(settings: Settings, place: Place) -> RelabellingStarted:
    """Send labels of older versions back to their annotators. Raises NotFound and as `send_for_relabelling`."""
    with Store.open_existing(place.database) as store:
        project = named_project(store, settings.name)
        version = guideline(store, project, settings.version).version
        also = codes_in(settings.also)
        sent = send_for_relabelling(store, project, version, settings.which, also=also, author=settings.author)
        return RelabellingStarted(version, sent)


START_RELABELLING = JobKind("guideline send-back", Settings, RelabellingStarted, run)
