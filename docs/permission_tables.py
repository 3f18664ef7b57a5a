"""docs/permissions.md, made from the tables that the code asks: `python -m docs.permission_tables [--check]`.

--check writes nothing and ends with 1 where the file is not what it should be.
"""

from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path

import click

from docs.generated import write_or_check
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.desk.routes import ROUTES as DESK_ROUTES
from evenhand.annotations.permissions import ALLOWED, OWN, Action, Role
from evenhand.commands.main import cli
from evenhand.commands.permissions import every_need
from evenhand.pages.catalogue import PAGES
from evenhand.pages.ui.visitor import PARTS
from evenhand.web import account_pages, status, study_pages

ROOT = Path(__file__).resolve().parents[1]
FILE = Path(__file__).with_name("permissions.md")
ROLES: tuple[Role, ...] = ("guest", "reader", "annotator", "adjudicator", "lead", "owner")
SCRIPTS = ("main.py", "page.py")  # these run when they are imported
HEAD = """# Who may do what

Generated from the code by `make docs`; do not edit by hand. Everything that is not listed is forbidden: a page, a part
of a page, a route or a command without a row fails a test, and each cell is tried. "own": under the own name, or for
the own entries. A role in a project holds there only; a server-wide role holds in every project. Without accounts (open
mode) the person at the machine may do everything. [Accounts](accounts.md) says how people get an account.
"""
WHERE = {"any": "in any project", "server": "server-wide"}
# Routes other than those of the desk: who gets an answer. Streamlit's own are gated in web/gate.py.
OTHER_ROUTES = {
    "/sign-in": "everybody",
    "/sign-out": "who is signed in",
    "/account/link": "everybody; the link decides",
    "/account/oidc": "everybody; the link decides",
    "/sign-in/oidc": "everybody, where a provider is set up",
    "/sign-in/oidc/back": "who was sent to the provider by this browser",
    "/account/style.css": "everybody",
    "/account/link.js": "everybody",
    "/own-log": "who is signed in; its entries: who has a desk, the own ones",
    "/own-log/entries": "who has a desk: the own entries",
    "/own-log/check.js": "who is signed in",
    "/healthz": "everybody",
    "/metrics": "this machine, or who holds the token of EVENHAND_METRICS_TOKEN",
    "/study/files/{name}": "everybody",
    "/study/{link}": "who has the link of a study that is open",
    "/study/{link}/about": "who has the link",
    "/study/{link}/consent": "who has the link of a study that is open; it gives the cookie of one desk",
    "/study/{link}/test": "who has the cookie of that study",
    "/study/{link}/begin": "who has the cookie of that study",
    "/study/{link}/desk.json": "who has the cookie of that study: the own desk",
    "/study/{link}/finish": "who has the cookie of that study",
    "/study/{link}/withdraw": "who has the cookie of that study",
    "/study/{rest:path}": "none: it does not exist",
    "/media/FILE": "whose page offers the file",
    "/_stcore/upload_file/SESSION/FILE": "whose session it is",
    "/_stcore/stream": "who is signed in; guests where EVENHAND_GUESTS=1; a session goes on for its own account",
}


def import_parts() -> None:
    """Import every module of pages that is not a script, so that all parts are known."""
    for file in sorted((ROOT / "pages").rglob("*.py")):
        if file.name not in SCRIPTS:
            import_module(".".join(("evenhand", *file.relative_to(ROOT).with_suffix("").parts)))


def server_routes() -> set[str]:
    """Return the paths of the server's own routes, except those of the desk."""
    kinds = (account_pages, status, study_pages)
    return {route.path for kind in kinds for route in kind.routes()}


def cell(role: Role, action: Action | None) -> str:
    """Return the cell of a role in the tables: "yes", "own" (one's own data only) or "" (refused)."""
    if action is None:
        return "yes"
    if action not in ALLOWED[role]:
        return ""
    return "own" if action in OWN else "yes"


def table(heads: Sequence[str], rows: Iterable[tuple[Sequence[str], Action | None]]) -> str:
    """Return a table of rows of words, each followed by its action and a column per role."""
    lines = [f"| {' | '.join([*heads, 'needs', *ROLES])} |", f"|{'---|' * (len(heads) + 1 + len(ROLES))}"]
    for words, action in rows:
        cells = [*words, f"`{action}`" if action else "", *(cell(role, action) for role in ROLES)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def document() -> str:
    """Return the whole of docs/permissions.md."""
    import_parts()
    actions = sorted({action for allowed in ALLOWED.values() for action in allowed})
    desk = [((f"`{PATH}/{name}`",), action) for name, (_work, action) in DESK_ROUTES.items()]
    commands = [
        ((f"`{words}`", WHERE.get(need.where, "in the project")), need.action)
        for words, need in every_need(cli, click.Context(cli))
        if need is not None
    ]
    parts = [
        ((f"`{part.name}`", "in the project" if part.in_project else "in any project"), part.action)
        for part in sorted(PARTS.values(), key=lambda part: part.name)
    ]
    others = "\n".join(
        ["| route | who gets an answer |", "|---|---|", *(f"| `{p}` | {w} |" for p, w in OTHER_ROUTES.items())]
    )
    sections = {
        "Actions": table([], [((), action) for action in actions]),
        "Pages": table(["page"], [((f"`/{page.address}`",), page.action) for page in PAGES]),
        "Parts of pages, asked at each click": table(["part", "where"], parts),
        "Routes of the desk": table(["route"], desk),
        "Other routes": others,
        "Commands with EVENHAND_SESSION or --as": table(["command", "where"], commands),
    }
    return HEAD + "".join(f"\n## {title}\n\n{text}\n" for title, text in sections.items())


if __name__ == "__main__":
    write_or_check(FILE, document(), "the code says")
