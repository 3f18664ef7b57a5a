"""Whether text may leave the app, decided in one place for all files, downloads and links; and its encryption.

Text of models about people may hurt, and published test text ends up in training data. So the text of generations
leaves encrypted unless the lead of a project has allowed otherwise; ids and labels are never encrypted.
"""

import io
from collections.abc import Mapping

import pyzipper  # type: ignore[import-untyped]

from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, Refused

CANARY_ID = "evenhand-canary-7c1f9f0e-3f0b-4d55-9b0e-6a2f4d1c8e57"
CANARY = f"Evaluation data, not for training: keep this text out of every training corpus. {CANARY_ID}"
CANARY_KEY = "canary"  # the column or the JSON key that holds it
SHORTEST_PASSWORD = 8


def text_may_leave(project: Project) -> bool:
    """Return whether the text of *project* may be written in plain. Only this function decides it.

    Sentences may, generations may not, unless the project's setting `open_text` differs (True: in plain, False:
    encrypted only). All code that writes text to a file, a download, a chart's data, a list or a link asks here.
    Backups do not: they are the database itself and stay on the machine.
    """
    if project.open_text is not None:
        return bool(project.open_text)
    return project.kind == "sentences"


def needs_canary(project: Project) -> bool:
    """Return whether files with text of *project* carry the canary line: files of generations do."""
    return project.kind == "generations"


def text_or_reference(project: Project, item: Item) -> str:
    """Return the text of *item* if it may be exported, else its public id: for lists and links outside the app."""
    return item.text if text_may_leave(project) else item.uid


def without_text(project: Project, row: Mapping[str, object], *keys: str) -> dict[str, object]:
    """Return *row* with None under *keys* if the text of *project* may not be exported."""
    if text_may_leave(project):
        return dict(row)
    return {key: None if key in keys else value for key, value in row.items()}


def packed(files: Mapping[str, bytes], password: str) -> bytes:
    """Return a ZIP of *files* (name -> content) with AES-256 (WinZip AE-2); only names and sizes stay readable.

    Raises Refused if the password has fewer than 8 characters.
    """
    checked_password(password)
    buffer = io.BytesIO()
    with pyzipper.AESZipFile(
        buffer, "w", compression=pyzipper.ZIP_DEFLATED, encryption=pyzipper.WZ_AES, compresslevel=6
    ) as archive:
        archive.setpassword(password.encode("utf-8"))
        archive.setencryption(pyzipper.WZ_AES, nbits=256)
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def checked_password(password: str) -> str:
    """Return *password*, unchanged. Raises Refused if it has fewer than 8 characters or only blanks."""
    if len(password.strip()) < SHORTEST_PASSWORD:
        message = N_(
            "The password needs at least {least} characters; it is the only protection of the texts in the archive."
        )
        raise Refused(message, least=SHORTEST_PASSWORD)
    return password
