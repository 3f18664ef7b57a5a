"""Studies for tests, and people who take part in them without a browser."""

import math
import re
from collections.abc import Sequence
from typing import Any

from starlette.testclient import TestClient

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.consent import Use
from evenhand.annotations.study.people import Participant, agree, begin, participant
from evenhand.annotations.study.studies import Settings, Study, consent, create_study, signed
from evenhand.annotations.types import Project

CONTACT = "lead@example.org"


def new_study(store: Store, project: Project, name: str = "study", uses: Sequence[Use] = (), **fields: Any) -> Study:
    """Return a study of three texts a person; its optional test is about the project's first items: accept."""
    chosen = {"contact": CONTACT, "items": 3, "reward": 2.0, "floor": 9.0, **fields}
    known = [(item, "accept") for item in list(items(store, project))[: 2 * chosen.get("questions", 0)]]
    return create_study(store, project, name, Settings(**chosen), questions=known, uses=uses)


def come(store: Store, study: Study, *, now: float | None = None, seen: float = math.inf) -> tuple[str, Participant]:
    """Let a visitor agree and, in a study without a test, begin; return the cookie's secret and the participant."""
    secret = agree(store, study, consent(store, study), "en", None, now=now, seen=seen)
    who = person(store, study, secret)
    if who.state == "ready":
        begin(store, study, who, now=now)
    return secret, person(store, study, secret)


def person(store: Store, study: Study, secret: str) -> Participant:
    """Return the person of a cookie."""
    result = participant(store, study, [secret])
    assert result is not None
    return result


class Visitor:
    """A visitor who follows the link, in this process."""

    def __init__(self, client: TestClient, store: Store, study: Study, **parameters: str) -> None:
        self.client, self.store, self.study, self.parameters = client, store, study, parameters
        self.path = f"/study/{signed(store, study)}"

    def open(self, part: str = "", **parameters: str) -> str:
        """Return a page of the study."""
        answer = self.client.get(f"{self.path}{part}", params=parameters or self.parameters)
        assert answer.status_code == 200, answer.text
        return answer.text

    def send(self, part: str, page: str, **values: str) -> str:
        """Send the form of a *page*, filled in with *values*; the page that comes then."""
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
        answer = self.client.post(f"{self.path}{part}", data={**hidden, **values}, follow_redirects=True)
        assert answer.status_code == 200, answer.text
        return answer.text
