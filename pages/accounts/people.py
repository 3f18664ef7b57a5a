"""Accounts: the visitor's own, roles, invitations, what may be done to an account, and the erasure of a person."""

import streamlit as st

from evenhand.annotations.accounts import accounts, links, sign_ins
from evenhand.annotations.accounts.accounts import Account, account_of_uid, manages, person_of, roles_in, roles_to_give
from evenhand.annotations.database.store import Store
from evenhand.annotations.log import erasure
from evenhand.annotations.permissions import FORBIDDEN, Person, Role
from evenhand.annotations.projects.annotators import annotators, participants
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.types import Project
from evenhand.core.errors import NotAllowed
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.text import _, caption, clauses, in_brackets, inform, language, named, plain, series
from evenhand.pages.ui.visitor import (
    address_on_this_server,
    asks_at_click,
    confirmed,
    errors_shown,
    may,
    open_store,
    own_sign_in,
    say_changes,
    visitor,
)
from evenhand.web.account_pages import ROLES

OWN_PLACES = ("first", "own")  # links for the visitor alone, not for sending on


def browser_name(agent: str) -> str:
    """Return a browser and its system, as people call them, from how it names itself: "Firefox, Windows"."""
    browsers = {"Edg/": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari"}
    systems = {"iPhone": "iPhone", "iPad": "iPad", "Android": "Android", "Windows": "Windows", "Mac OS X": "macOS"}
    systems["Linux"] = "Linux"
    result = [next((name for sign, name in signs.items() if sign in agent), "") for signs in (browsers, systems)]
    return series(name for name in result if name) or agent[:60]


def _mine(store: Store) -> Account | None:
    uid = visitor(store).account
    return account_of_uid(store, uid) if uid else None


def _end(uid: str) -> None:
    with open_store() as store:
        if mine := _mine(store):
            sign_ins.end_sign_in(store, mine, uid, author=mine)


def _end_all() -> None:
    with open_store() as store:
        if mine := _mine(store):
            sign_ins.end_all(store, mine, author=mine)


def _everything() -> bytes:
    with open_store() as store:
        mine = _mine(store)
        return erasure.own_data(store, mine).encode() if mine else b""


def _new_password() -> None:
    with open_store() as store:
        if mine := _mine(store):
            offer_link(
                "own", _("Sets your new password; valid for one hour"), links.reset_link(store, mine, author=mine)
            )


def roles_text(store: Store, person: Person) -> str:
    """Return the roles of a person on this server and in each open project; "" for none."""
    names = {project.uid: project.name for project in projects(store)}
    roles = [_("{role} on this server", role=_(ROLES[person.everywhere]))] if person.everywhere else []
    return clauses([*roles, *(named(names[uid], _(ROLES[role])) for uid, role in person.roles.items() if uid in names)])


def show_own(store: Store, account: Account, person: Person) -> None:
    """Show the account, its roles, where it is signed in."""
    st.header(plain(account.name))
    st.write(plain(roles_text(store, person)) or _("No role yet: a project lead can give you one."))
    if account.annotator:
        caption("You label as {name}.", name=account.annotator)
    st.markdown(f"**{_('Signed in')}**")
    here = own_sign_in(store)
    for sign_in in sign_ins.sign_ins(store, account):
        with st.container(horizontal=True, vertical_alignment="center"):
            name = browser_name(sign_in.browser) or _("Unknown browser")
            st.text(in_brackets(name, _("this one")) if sign_in.uid == here else name)
            caption("since {since}, last seen {seen}", since=moment(sign_in.created), seen=moment(sign_in.seen))
            st.button(_("Sign out"), key=f"end-{sign_in.uid}", type="tertiary", on_click=_end, args=(sign_in.uid,))
    with st.container(horizontal=True):
        st.button(_("Sign out everywhere"), key="end-all", icon=":material/logout:", on_click=_end_all)
        st.button(_("Set a new password"), key="new-password", icon=":material/key:", on_click=_new_password)
        text = _("Account, roles, sign-ins, events, and your record with all labels in each project.")
        name = f"{account.name}.json".replace("/", "-")
        download(_("Everything about you (JSON)"), _everything, name, key="own-data", type="secondary", help=text)
    show_link("own")


def offer_link(place: str, title: str, secret: str) -> None:
    """Have a link shown at *place* when the page runs next."""
    st.session_state["link"] = (place, title, secret)


def show_link(place: str) -> None:
    """Show the link of the last click where it was made at *place*, to copy; it is gone with the next click."""
    if st.session_state.get("link", ("",))[0] != place:
        return
    _place, title, secret = st.session_state.pop("link")
    with st.container(border=True):
        st.markdown(f"**{plain(title)}**")
        st.code(address_on_this_server(f"/account/link?lang={language()}#{secret}"), language=None, wrap_lines=True)
        text = _("Send the link through a private channel. It is shown only once; keep it safe.")
        if place in OWN_PLACES:
            text = _("The link is shown only once. Keep it safe.")
        st.caption(text)


ORDER: tuple[Role, ...] = ("annotator", "adjudicator", "reader", "lead", "owner")
SHOWN = 50  # texts at once


def _act(work: str, uid: str, place: str, project: Project | None = None) -> None:
    """Reset, close, reopen, sign out, or withdraw the role of an account, after checking again that the visitor may. A
    link for the account is shown below it at *place*."""
    with errors_shown(), open_store() as store:
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
            offer_link(f"{place}-{uid}", _("New password of {name}", name=other.name), secret)
        elif work == "sign out":
            sign_ins.end_all(store, other, author=author)
        elif work == "close":
            accounts.close_account(store, other, author=author)
        else:
            accounts.reopen_account(store, other, author=author)


def _invite(project: Project | None) -> None:
    place = project.uid if project else "server"
    role: Role = st.session_state[f"role-{place}"]
    name = st.session_state.get(f"desk-{place}") or ""
    with errors_shown(), open_store() as store:
        who = visitor(store)
        if role not in roles_to_give(who, project):
            raise NotAllowed(FORBIDDEN)
        author, name = account_of_uid(store, who.account or ""), name if role in accounts.LABELLING else ""
        former = links.invitation_for(store, project, name)
        secret = links.invite_link(store, role, project, name=name, author=author)
        title = _("Invites {role} to {place}; valid once, for 14 days")
        where = project.name if project else _("this server")
        offer_link(place, title.format(role=_(ROLES[role]), place=where), secret)
        if former is not None:
            st.session_state["invitation-replaced"] = former.name


def _withdraw_invitation(uid: str) -> None:
    """Withdraw an open invitation; asks again whether the visitor may give its role."""
    with open_store() as store:
        who, invitation = visitor(store), links.find_invitation(store, uid)
        if invitation.role not in roles_to_give(who, invitation.project):
            raise NotAllowed(FORBIDDEN)
        links.withdraw_invitation(store, invitation, author=account_of_uid(store, who.account or ""))


def _show_invitations(store: Store, project: Project | None) -> None:
    """List the open invitations to *project* (None: to the whole server); each can be withdrawn."""
    place = project and project.uid
    invitations = [
        invitation
        for invitation in links.invitations(store)
        if (invitation.project and invitation.project.uid) == place
    ]
    if not invitations:
        return
    st.markdown(f"**{_('Open invitations')}**")
    for invitation in invitations:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            role = _(ROLES[invitation.role])
            st.markdown(plain(named(role, invitation.name) if invitation.name else role), width=220)
            caption(
                "created {made}, expires {expires}", made=moment(invitation.created), expires=moment(invitation.expires)
            )
            who = invitation.name or role
            if confirmed(
                _("Withdraw invitation"), _("The link for {who} becomes invalid immediately.").format(who=who),
                _("Withdraw this invitation"), key=f"uninvite-{invitation.id}",
            ):  # fmt: skip
                with errors_shown():
                    _withdraw_invitation(invitation.id)
                    st.rerun()


@asks_at_click("change_projects")
def _label_too(project: Project) -> None:
    with open_store() as store:
        mine = account_of_uid(store, visitor(store).account or "")
        wanted = bool(st.session_state[f"labels-{project.uid}"])
        accounts.label_own_project(store, mine, project, labels=wanted)


def _show_own_labelling(store: Store, project: Project, account: Account) -> None:
    """Show whether a lead labels in the own project, and store a change with a button of its own."""
    stored = any(annotator.name == account.annotator for annotator in annotators(store, project))
    wanted = switch(
        _("I also label in this project"),
        stored,
        key=f"labels-{project.uid}",
        explained=_("Your labels are blind only as long as you do not look at others' labels."),
    )
    if wanted == stored:
        return
    names = {True: _("yes"), False: _("no")}
    say_changes([(_("You are an annotator of {project}", project=project.name), names[stored], names[wanted])])
    caption("The method section counts annotators. The labels of an annotator who leaves stay and count.")
    st.button(_("Save"), key=f"save-labels-{project.uid}", type="primary", on_click=_label_too, args=(project,))


def _show_invite(store: Store, project: Project | None, roles: list[Role]) -> None:
    place = project.uid if project else "server"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        # The narrowest first, so that a hasty click makes no owner.
        offered, names = sorted(roles, key=ORDER.index), {role: _(ROLES[role]) for role in roles}
        st.selectbox(_("Role"), offered, key=f"role-{place}", format_func=names.__getitem__, width=200)
        if project is not None:
            taken = {one.annotator for one, _role in roles_in(store, project)}
            by_link = participants(store, project)
            free = [
                annotator.name
                for annotator in annotators(store, project)
                if annotator.name not in taken and annotator.id not in by_link
            ]
            st.selectbox(
                _("Desk (for annotators)"), free, index=None, key=f"desk-{place}", width=240, accept_new_options=True,
                placeholder=_("same name as the account"),
            )  # fmt: skip
        st.button(
            _("Create invitation"), key=f"invite-{place}", type="primary", icon=":material/mail:", on_click=_invite,
            args=(project,),
        )  # fmt: skip
    if replaced := st.session_state.pop("invitation-replaced", None):
        inform("The earlier invitation for {name} has been withdrawn.", icon=":material/link_off:", name=replaced)
    show_link(place)
    _show_invitations(store, project)


def show_project_roles(store: Store, project: Project, account: Account, person: Person) -> None:
    """Show who has which role in a project, and invitations; only to a visitor who may change roles."""
    roles = roles_to_give(person, project)
    if not roles:
        caption("Project leads see and manage members here.")
        return
    if may(store, "change_projects", project):
        _show_own_labelling(store, project, account)
    found = roles_in(store, project)
    if not found:
        inform("No one has a role in this project yet.")
    for stored_account, role in found:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{plain(stored_account.name)}**", width=180)
            st.caption(plain(_(ROLES[role]) + (f" · {stored_account.annotator}" if stored_account.annotator else "")))
            if stored_account.closed:
                caption("closed")
            if role in roles and stored_account.uid != account.uid:
                st.button(
                    _("Remove role"), key=f"withdraw-{stored_account.uid}", type="tertiary", on_click=_act,
                    args=("withdraw", stored_account.uid, project.uid, project),
                )  # fmt: skip
            _show_actions(store, stored_account, account, person, project.uid)
        show_link(f"{project.uid}-{stored_account.uid}")
    _show_invite(store, project, roles)


def _show_actions(store: Store, stored_account: Account, account: Account, person: Person, place: str) -> None:
    other = person_of(store, stored_account.uid)
    if stored_account.uid == account.uid or not manages(person, other or Person()):
        return
    work = {"reset": _("New password"), "sign out": _("Sign out everywhere")}
    work |= {"reopen": _("Reopen")} if stored_account.closed else {"close": _("Close")}
    for name, label in work.items():
        key = f"{name.replace(' ', '-')}-{place}-{stored_account.uid}"
        st.button(label, key=key, type="tertiary", on_click=_act, args=(name, stored_account.uid, place))


def show_everybody(store: Store, account: Account) -> None:
    """Show every account of the server, for its owner."""
    st.header(_("Everybody on this server"))
    owner = Person("owner")
    for stored_account in accounts.accounts(store):
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{plain(stored_account.name)}**", width=180)
            roles = roles_text(store, person_of(store, stored_account.uid) or Person())
            st.caption(plain(roles or (_("closed") if stored_account.closed else _("no role"))))
            _show_actions(store, stored_account, account, owner, "server")
        show_link(f"server-{stored_account.uid}")
    st.markdown(f"**{_('Invite to the whole server')}**")
    _show_invite(store, None, roles_to_give(owner, None))


def _owner(store: Store) -> Account:
    """Return the account of the owner who asks. Raises NotAllowed for all others."""
    who = visitor(store)
    if who.everywhere != "owner" or who.account is None:
        raise NotAllowed(FORBIDDEN)
    return account_of_uid(store, who.account)


def _erase() -> None:
    name = st.session_state["erase-who"]  # at the click, not as the page was drawn
    if not name or st.session_state["erase-typed"] != name:
        return
    with errors_shown(), open_store() as store:
        st.session_state["erased"] = erasure.erase(store, name, author=_owner(store)).code


def _scrub(texts: list[erasure.OwnText]) -> None:
    with errors_shown():
        with open_store() as store:
            erasure.scrub_texts(store, texts, author=_owner(store))
        st.rerun()


def show_erasure(store: Store, account: Account) -> None:
    """Show a form that erases a person once the name is typed again, and the texts of erased people."""
    st.header(_("Erase a person"))
    caption(
        "The account, its sign-ins and the name are erased permanently, and a code replaces the name."
        " The labels stay, and the log remains valid. Exported files and backups are not affected."
    )
    names = [name for name in erasure.erasable_names(store) if name not in (account.name, account.annotator)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(_("Person"), names, index=None, key="erase-who", width=240)
        typed = st.text_input(_("Type the name to confirm"), key="erase-typed", width=240)
        st.button(
            _("Erase permanently"), key="erase", icon=":material/person_remove:", disabled=not name or typed != name,
            on_click=_erase,
        )  # fmt: skip
    if code := st.session_state.pop("erased", None):
        st.success(plain(_("{code} now replaces the name.", code=code)))
    for erased_code in erasure.erased_codes(store):
        _show_texts(store, erased_code)


def _show_texts(store: Store, code: str) -> None:
    texts = erasure.texts_of(store, code)
    if not texts:
        return
    with st.expander(plain(_("Texts by {code}: {number}").format(number=f"{len(texts):,}", code=code))):
        caption(
            "Notes, tags, comments and reasons may name a person. Read them first; scrubbed text cannot be restored."
        )
        lost = _("The text is removed and cannot be restored; the log keeps only its hash.")
        for text in texts[:SHOWN]:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(text.text)
                key = f"scrub-{text.kind}-{text.row}-{text.part}"
                if confirmed(_("Scrub"), lost, _("Scrub this text"), key=key):
                    _scrub([text])
        label = _("Scrub {n} texts", n=f"{len(texts):,}")
        if confirmed(_("Scrub all"), lost, label, key=f"scrub-{code}"):
            _scrub(texts)
