"""The address of a study: its public id, signed, so that nobody makes one up or tries others."""

import base64
import hashlib
import hmac
from urllib.parse import urlencode

from evenhand.annotations.database.store import Store
from evenhand.annotations.study.studies import Service, Study, study_of_uid
from evenhand.core.errors import N_, NotFound

NO_STUDY = N_("There is no study here. Check that the whole address was copied.")
# The names under which each service sends who it is, for which task, in which session; and how it fills them in.
PARAMETERS: dict[Service, tuple[str, str, str]] = {
    "link": ("", "", ""),
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "hitId", "assignmentId"),
}
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # Mechanical Turk, before a worker has accepted a task


def signed(store: Store, study: Study) -> str:
    """The last part of the address of a study."""
    return f"{study.uid}.{_signature(store, study.uid)}"


def study_of_link(store: Store, link: str) -> Study:
    """The study that an address names. Raises NotFound where the signature is not ours."""
    uid, _, signature = link.partition(".")
    if not link.isascii() or not hmac.compare_digest(signature, _signature(store, uid)):
        raise NotFound(NO_STUDY)
    return study_of_uid(store, uid)


def path_for(store: Store, study: Study) -> str:
    """The path and query that the lead gives to the service, with the places that it fills in."""
    path = f"/study/{signed(store, study)}"
    if study.service == "prolific":  # Prolific fills in what stands in double braces
        named = {name: f"{{{{%{name}%}}}}" for name in PARAMETERS["prolific"]}
        return f"{path}?{urlencode(named, safe='{}%')}"
    if study.service == "mturk":
        return f"{path}?{urlencode({name: f'${{{name}}}' for name in PARAMETERS['mturk']}, safe='${}')}"
    return path


def _signature(store: Store, uid: str) -> str:
    made = hmac.new(store.secret, b"study|" + uid.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made[:18]).decode()
