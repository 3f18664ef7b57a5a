"""Other people's accounts: roles in a project, invitations, and what an owner or lead may do to an account."""

import streamlit as st

from evenhand.annotations.accounts import accounts, links, sign_ins
from evenhand.annotations.accounts.accounts import Account, account_of_uid, manages, person_of, roles_in, roles_to_give
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import FORBIDDEN, Person, Role
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError, NotAllowed
from evenhand.pages.accounts.links import offer_link, show_link
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks_at_click, confirmed, say_changes
from evenhand.pages.ui.text import clauses, named, plain
from evenhand.pages.ui.visitor import may, visitor
from evenhand.web.forms import ROLES

ORDER: tuple[Role, ...] = ("annotator", "adjudicator", "reader", "lead", "owner")


def _act(work: str, uid: str, place: str, project: Project | None = None) -> None:
    """Reset, close, reopen, sign out, or withdraw the role of an account; asked anew who asks. A link for it is shown
    below the account at *place*."""
    try:
        with open_store() as store:
            who, other = visitor(store), account_of_uid(store, uid)
            author = account_of_uid(store, who.account or "")
            if work == "withdraw":
                held = {one.uid: role for one, role in roles_in(store, project)} if project else {}
                if held.get(uid) not in roles_to_give(who, project):
                    raise NotAllowed(FORBIDDEN)
                accounts.withdraw(store, other, project, author=author)
                return
            if not manages(who, person_of(store, uid) or Person()):
                raise NotAllowed(FORBIDDEN)
            if work == "reset":
                secret = links.reset_link(store, other, author=author)
                offer_link(f"{place}-{uid}", _("New password of {name}").format(name=other.name), secret)
            elif work == "sign out":
                sign_ins.end_all(store, other, author=author)
            elif work == "close":
                accounts.close_account(store, other, author=author)
            else:
                accounts.reopen_account(store, other, author=author)
    except EvenhandError as error:
        st.session_state["accounts-error"] = error


def _invite(project: Project | None) -> None:
    place = project.uid if project else "server"
    role: Role = st.session_state[f"role-{place}"]
    name = st.session_state.get(f"desk-{place}") or ""
    try:
        with open_store() as store:
            who = visitor(store)
            if role not in roles_to_give(who, project):
                raise NotAllowed(FORBIDDEN)
            author, name = account_of_uid(store, who.account or ""), name if role in accounts.LABELLING else ""
            former = links.invitation_for(store, project, name)
            secret = links.invite_link(store, role, project, name=name, author=author)
            title = _("Invites {role} to {place}; valid once, for 14 days").format(
                role=_(ROLES[role]), place=project.name if project else _("this server")
            )
            offer_link(place, title, secret)
            if former is not None:
                st.session_state["invitation-replaced"] = former.name
    except EvenhandError as error:
        st.session_state["accounts-error"] = error


def _withdraw_invitation(uid: str) -> None:
    """Withdraw an open invitation; asks again whether the visitor may give its role."""
    try:
        with open_store() as store:
            who, found = visitor(store), links.find_invitation(store, uid)
            if found.role not in roles_to_give(who, found.project):
                raise NotAllowed(FORBIDDEN)
            links.withdraw_invitation(store, found, author=account_of_uid(store, who.account or ""))
    except EvenhandError as error:
        st.session_state["accounts-error"] = error


def _show_invitations(store: Store, project: Project | None) -> None:
    """List the open invitations to *project* (None: to the whole server); each can be withdrawn."""
    place = project and project.uid
    found = [one for one in links.invitations(store) if (one.project and one.project.uid) == place]
    if not found:
        return
    heading = _("Open invitations")
    st.markdown(f"**{heading}**")
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            role = _(ROLES[one.role])
            st.markdown(plain(named(role, one.name) if one.name else role), width=220)
            text = _("made {made}, expires {expires}")
            st.caption(plain(text.format(made=moment(one.created), expires=moment(one.expires))))
            who = one.name or role
            if confirmed(
                _("Withdraw invitation"), _("The link for {who} opens nothing from now on.").format(who=who),
                _("Withdraw this invitation"), key=f"uninvite-{one.id}",
            ):  # fmt: skip
                _withdraw_invitation(one.id)
                st.rerun()


@asks_at_click("change_projects")
def _label_too(project: Project) -> None:
    try:
        with open_store() as store:
            mine = account_of_uid(store, visitor(store).account or "")
            wanted = bool(st.session_state[f"labels-{project.uid}"])
            accounts.label_own_project(store, mine, project, labels=wanted)
    except EvenhandError as error:
        st.session_state["accounts-error"] = error


def _show_own_labelling(store: Store, project: Project, account: Account) -> None:
    """Show whether a lead labels in the own project, and store a change with a button of its own."""
    stored = any(one.name == account.annotator for one in annotators(store, project))
    wanted = switch(
        _("I also label in this project"),
        stored,
        key=f"labels-{project.uid}",
        explained=_("Your labels are blind only as long as you do not look at others' labels."),
    )
    if wanted == stored:
        return
    names = {True: _("yes"), False: _("no")}
    say_changes([(_("You are an annotator of {project}").format(project=project.name), names[stored], names[wanted])])
    st.caption(_("The method section counts annotators. The labels of an annotator who leaves stay and count."))
    st.button(_("Save"), key=f"save-labels-{project.uid}", type="primary", on_click=_label_too, args=(project,))


def _show_invite(store: Store, project: Project | None, roles: list[Role]) -> None:
    place = project.uid if project else "server"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # The narrowest first: nobody becomes owner by a hasty click.
        st.selectbox(
            _("Role"),
            sorted(roles, key=ORDER.index),
            key=f"role-{place}",
            format_func=lambda role: _(ROLES[role]),
            width=200,
        )
        if project is not None:
            taken = {one.annotator for one, _role in roles_in(store, project)}
            by_link = participants(store, project)
            free = [one.name for one in annotators(store, project) if one.name not in taken and one.id not in by_link]
            st.selectbox(
                _("Desk (for annotators)"), free, index=None, key=f"desk-{place}", width=240, accept_new_options=True,
                placeholder=_("same name as the account"),
            )  # fmt: skip
        st.button(
            _("Create invitation"), key=f"invite-{place}", type="primary", icon=":material/mail:", on_click=_invite,
            args=(project,),
        )  # fmt: skip
    if replaced := st.session_state.pop("invitation-replaced", None):
        text = _("The earlier invitation for {name} has been withdrawn.")
        st.info(plain(text.format(name=replaced)), icon=":material/link_off:")
    show_link(place)
    _show_invitations(store, project)


def show_project_roles(store: Store, project: Project, account: Account, person: Person) -> None:
    """Who has which role in a project; for who may change that, with invitations."""
    if error := st.session_state.pop("accounts-error", None):
        show_error(error)
    roles = roles_to_give(person, project)
    if not roles:
        st.caption(_("Project leads see and manage members here."))
        return
    if may(store, "change_projects", project):
        _show_own_labelling(store, project, account)
    found = roles_in(store, project)
    if not found:
        st.info(_("Nobody has a role in this project yet."))
    for one, role in found:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{plain(one.name)}**", width=180)
            st.caption(plain(_(ROLES[role]) + (f" · {one.annotator}" if one.annotator else "")))
            if one.closed:
                st.caption(_("closed"))
            if role in roles and one.uid != account.uid:
                st.button(
                    _("Remove role"), key=f"withdraw-{one.uid}", type="tertiary", on_click=_act,
                    args=("withdraw", one.uid, project.uid, project),
                )  # fmt: skip
            _show_actions(store, one, account, person, project.uid)
        show_link(f"{project.uid}-{one.uid}")
    _show_invite(store, project, roles)


def _show_actions(store: Store, one: Account, account: Account, person: Person, place: str) -> None:
    other = person_of(store, one.uid)
    if one.uid == account.uid or not manages(person, other or Person()):
        return
    work = {"reset": _("New password"), "sign out": _("Sign out everywhere")}
    work |= {"reopen": _("Reopen")} if one.closed else {"close": _("Close")}
    for name, label in work.items():
        key = f"{name.replace(' ', '-')}-{place}-{one.uid}"
        st.button(label, key=key, type="tertiary", on_click=_act, args=(name, one.uid, place))


def show_everybody(store: Store, account: Account) -> None:
    """Every account of the server, for its owner."""
    st.subheader(_("Everybody on this server"))
    names = {one.uid: one.name for one in projects(store)}
    owner = Person("owner")
    for one in accounts.accounts(store):
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{plain(one.name)}**", width=180)
            found = person_of(store, one.uid) or Person()
            roles = [_("{role} on this server").format(role=_(ROLES[found.everywhere]))] if found.everywhere else []
            roles += [named(names[uid], _(ROLES[role])) for uid, role in found.roles.items() if uid in names]
            st.caption(plain(clauses(roles) or (_("closed") if one.closed else _("no role"))))
            _show_actions(store, one, account, owner, "server")
        show_link(f"server-{one.uid}")
    heading = _("Invite somebody to the whole server")
    st.markdown(f"**{heading}**")
    _show_invite(store, None, roles_to_give(owner, None))
