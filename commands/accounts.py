"""`accounts`: who may sign in on this server, and as what; erasure of a person."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

import click

from evenhand.annotations.accounts import accounts as people
from evenhand.annotations.accounts import links
from evenhand.annotations.accounts.sign_ins import end_all, sign_in, sign_ins
from evenhand.annotations.database.store import Store
from evenhand.annotations.log import erasure
from evenhand.annotations.permissions import Role
from evenhand.annotations.projects import projects
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, existing_store, option, table
from evenhand.core.types import JsonObject

ROLES = ["owner", "lead", "adjudicator", "annotator", "reader"]
_role = option("--role", type=click.Choice(ROLES), help="The role.")
_project = option("--project", help="The project; without it the role is server-wide.")
_annotator = option("--annotator", help="The name under which the person labels; default: the account's.")
_url = option(
    "--url", envvar="EVENHAND_URL", default="http://localhost:8501",
    help="The address of the server, for links.",
)  # fmt: skip


@click.group("accounts")
def accounts() -> None:
    """Manage the accounts that may sign in. Without accounts, the server is open and answers its own machine only.

    These commands act as the user of the system: everyone who may read the database file may run all of them.
    """


def _found_project(store: Store, name: str | None) -> Project | None:
    return projects.project(store, name) if name is not None else None


def _print_link(secret: str, url: str, text: str) -> None:
    address = f"{url.rstrip('/')}/account/link#{secret}"
    answer({"link": address}, f"{text}\n{address}")


@accounts.command()
@_url
@guarded("change_every_account", "server")
def first(url: str, db: str) -> None:
    """Print a link that makes the first account, owner of the server. It works once, within a day."""
    with Store.open(db) as store:  # the first account may come before the first project
        secret = links.first_link(store)
    _print_link(secret, url, "Open this within a day. With the first account everybody has to sign in.")


@accounts.command("list")
@guarded("change_every_account", "server")
def list_accounts(db: str) -> None:
    """List the accounts with their roles."""
    with existing_store(db) as store:
        names = {project.uid: project.name for project in projects.projects(store)}
        rows: list[JsonObject] = []
        for account in people.accounts(store):
            person = people.person_of(store, account.uid)
            roles = {names[uid]: role for uid, role in person.roles.items() if uid in names} if person else {}
            everywhere = person.everywhere if person else None
            rows.append({
                "name": account.name, "id": account.uid, "server": everywhere, "projects": roles,
                "annotator": account.annotator,
                "closed": account.closed, "sign_ins": len(sign_ins(store, account)),
            })  # fmt: skip
    lines = []
    for row in rows:
        held = [f"{row['server']} on this server"] if row["server"] else []
        held += [f"{name}: {role}" for name, role in row["projects"].items()]
        lines.append((row["name"], "; ".join(held) or "no role", "closed" if row["closed"] else ""))
    answer({"accounts": rows}, table(lines) or "No account: the server is in the open mode.")


@accounts.command()
@click.argument("name")
@_role
@_project
@_annotator
@_url
@guarded("change_every_account", "server")
def add(name: str, role: Role | None, project: str | None, annotator: str | None, url: str, db: str) -> None:
    """Make an account for NAME, and print the link by which the person sets the password."""
    with Store.open(db) as store:  # the first account may come before the first project
        place = _found_project(store, project)
        made = people.add_account(store, name)
        if role is not None:
            people.grant(store, made, role, place, annotator=annotator)
        secret = links.reset_link(store, made)
    _print_link(secret, url, f"{made.name} sets a password here, within an hour:")


@accounts.command("role")
@click.argument("name")
@click.argument("role", type=click.Choice([*ROLES, "none"]))
@_project
@_annotator
@guarded("change_every_account", "server")
def change_role(name: str, role: str, project: str | None, annotator: str | None, db: str) -> None:
    """Give the account NAME a ROLE in a project or server-wide, instead of the one it has there."""
    with existing_store(db) as store:
        who, place = people.account(store, name), _found_project(store, project)
        if role == "none":
            people.withdraw(store, who, place)
        else:
            people.grant(store, who, role, place, annotator=annotator)  # type: ignore[arg-type]
    answer({"name": who.name, "role": role, "project": project}, f"{who.name}: {role}")


@accounts.command()
@click.argument("role", type=click.Choice(ROLES))
@_project
@_annotator
@option("--uses", type=click.IntRange(1, 1000), default=1, help="How many people may use the link.")
@option("--hours", type=click.FloatRange(0.1, 24 * 90), default=24 * 14, help="Hours for which it is valid.")
@_url
@guarded("change_every_account", "server")
def invite(role: Role, project: str | None, annotator: str | None, uses: int, hours: float, url: str, db: str) -> None:
    """Print a link that gives a person an account with a ROLE.

    An earlier open invitation for the same annotator in the same project is withdrawn.
    """
    with existing_store(db) as store:
        place = _found_project(store, project)
        former = links.invitation_for(store, place, annotator or "")
        secret = links.invite_link(store, role, place, name=annotator or "", uses=uses, hours=hours)
    if former is not None:
        click.echo(f"The earlier invitation {former.id} for {former.name} is withdrawn.", err=True)
    _print_link(secret, url, f"Whoever opens this becomes {role}:")


@accounts.command("invitations")
@_project
@guarded("change_every_account", "server")
def list_invitations(project: str | None, db: str) -> None:
    """List open invitations: for which role, project and annotator, when each was made and when it expires."""
    with existing_store(db) as store:
        place = _found_project(store, project)
        invitations = [
            invitation for invitation in links.invitations(store) if place is None or invitation.project == place
        ]
    rows = [
        {
            "id": invitation.id, "role": invitation.role,
            "project": invitation.project.name if invitation.project else None,
            "annotator": invitation.name or None, "uses": invitation.uses, "created": invitation.created,
            "expires": datetime.fromtimestamp(invitation.expires, UTC).isoformat(timespec="seconds"),
        }
        for invitation in invitations
    ]  # fmt: skip
    lines = [
        (
            row["id"], row["role"], row["project"] or "the whole server", row["annotator"] or "", row["uses"],
            row["created"], row["expires"],
        )
        for row in rows
    ]  # fmt: skip
    heads = ["invitation", "role", "in", "labels as", "uses", "made", "expires"]
    answer({"invitations": rows}, table(lines, heads) if lines else "No open invitation.")


@accounts.command("withdraw-invitation")
@click.argument("invitation")
@guarded("change_every_account", "server")
def withdraw_invitation(invitation: str, db: str) -> None:
    """Withdraw the open INVITATION (its id in `accounts invitations`): its link stops working."""
    with existing_store(db) as store:
        found = links.find_invitation(store, invitation)
        links.withdraw_invitation(store, found)
    answer({"withdrawn": found.id}, f"The invitation {found.id} is withdrawn.")


@accounts.command()
@click.argument("name")
@_url
@guarded("change_every_account", "server")
def reset(name: str, url: str, db: str) -> None:
    """Print a link that sets a new password for NAME, once, within an hour."""
    with existing_store(db) as store:
        secret = links.reset_link(store, people.account(store, name))
    _print_link(secret, url, "For this person only:")


@accounts.command()
@click.argument("name")
@guarded("change_every_account", "server")
def session(name: str, db: str) -> None:
    """Print the secret of a session for commands: in EVENHAND_SESSION it gives them the permissions of NAME.

    It is valid for 12 hours without a command and for 30 days at most; `accounts sign-out NAME` ends it.
    """
    with existing_store(db) as store:
        secret = sign_in(store, people.account(store, name), "command line")
    answer({"session": secret}, secret)


@accounts.command()
@click.argument("name")
@guarded("change_every_account", "server")
def close(name: str, db: str) -> None:
    """Close the account NAME: it is signed out everywhere, its labels stay."""
    with existing_store(db) as store:
        people.close_account(store, people.account(store, name))
    answer({"closed": name}, f"{name} is closed.")


@accounts.command()
@click.argument("name")
@guarded("change_every_account", "server")
def reopen(name: str, db: str) -> None:
    """Let the closed account NAME sign in again."""
    with existing_store(db) as store:
        people.reopen_account(store, people.account(store, name))
    answer({"reopened": name}, f"{name} may sign in again.")


@accounts.command("sign-out")
@click.argument("name")
@guarded("change_every_account", "server")
def sign_out(name: str, db: str) -> None:
    """Sign the account NAME out everywhere."""
    with existing_store(db) as store:
        end_all(store, people.account(store, name))
    answer({"signed_out": name}, f"{name} is signed out everywhere.")


@accounts.command()
@click.argument("name")
@guarded("change_every_account", "server")
def erase(name: str, db: str) -> None:
    """Erase the person with the account NAME, or the annotator of that name. This cannot be undone.

    The account, its sign-ins and roles are deleted; a code replaces the name. Labels stay, and the log stays valid.
    Notes and comments of the person are listed; `accounts scrub` replaces them.
    """
    with existing_store(db) as store:
        done = erasure.erase(store, name)
    data = {"code": done.code, "replaced": done.replaced, "texts": [asdict(own_text) for own_text in done.texts]}
    text = f"{done.code} stands in place of the name now. Texts to read, and to scrub where they name somebody:"
    answer(data, [text, _texts_table(done.texts)] if done.texts else text.split(" Texts")[0])


@accounts.command()
@click.argument("name")
@option("--yes", is_flag=True, help="Scrub them; without it they are listed.")
@option("--item", "items", multiple=True, help="Only texts on this item (its id); can be repeated.")
@guarded("change_every_account", "server")
def scrub(name: str, yes: bool, items: tuple[str, ...], db: str) -> None:
    """Replace the notes, tags, comments and reasons of the person NAME (or of the code in its place) permanently.

    The log keeps their salted hashes and stays valid; the salts are destroyed.
    """
    with existing_store(db) as store:
        own_texts = [text for text in erasure.texts_of(store, name) if not items or text.item in items]
        number = erasure.scrub_texts(store, own_texts) if yes else 0
    data = {"scrubbed": number, "texts": [] if yes else [asdict(own_text) for own_text in own_texts]}
    answer(data, f"{number} texts scrubbed." if yes else _texts_table(own_texts) or "No text.")


def _texts_table(texts: Sequence[erasure.OwnText]) -> str:
    return table([(text.kind, str(text.row), text.part, f"item {text.item}", text.text) for text in texts])
