"""A release to the Hugging Face hub, as a job."""

import streamlit as st

from evenhand.annotations.database.events import EXPORTED, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.hub.client import checked_repo, endpoint_name, has_token
from evenhand.annotations.hub.push import PUSH, Gate, Settings
from evenhand.annotations.release.records import Release
from evenhand.annotations.release.write_out import locked_texts
from evenhand.annotations.text_policy import checked_password
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.jobs import is_active, start_job
from evenhand.pages.ui.numbers import DASH, moment
from evenhand.pages.ui.parts import asks, confirmed
from evenhand.pages.ui.text import _, plain


@asks("release")
def show_push(store: Store, project: Project, one: Release) -> None:
    """Under which name, who may see it; the button starts the job."""
    st.caption(
        plain(
            _("The files of this release, without the package, will be uploaded to {endpoint}.").format(
                endpoint=endpoint_name()
            )
        )
    )
    for pushed in events(store, project, action=EXPORTED):
        if pushed.data.get("format") == "hub" and pushed.data.get("version") == one.version:
            address = f"{pushed.data['endpoint']}/datasets/{pushed.data['repo']}"
            st.text(_("On the Hub since {time}: {address}").format(time=moment(pushed.created), address=address))
    if not has_token():
        st.info(
            _(
                "Set HF_TOKEN on the machine that runs the app, or sign in there with `hf auth login`. The app"
                " does not store tokens."
            )
        )
        return
    gates: dict[Gate | None, str] = {
        None: _("no: anyone can download"),
        "auto": _("after consent: anyone who accepts the terms can download"),
        "manual": _("on request: you approve each user"),
    }
    with st.container():
        repo = st.text_input(
            _("Data set on the Hub"), key=f"hub-repo-{one.uid}", placeholder="OWNER/NAME", max_chars=200
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            gated = st.selectbox(
                _("Gated"), list(gates), format_func=gates.__getitem__, key=f"hub-gated-{one.uid}", width=320
            )
            private = st.checkbox(_("Private"), key=f"hub-private-{one.uid}")
        password = _ask_password(project, one)
        text = _("Release {version} of {project} will be uploaded to {repo}. Copies made there cannot be recalled.")
        pressed = confirmed(
            _("Upload to the Hub"),
            text.format(version=one.version, project=project.name, repo=repo.strip() or DASH),
            _("Upload it"), key=f"hub-push-{one.uid}", icon=":material/cloud_upload:",
            disabled=is_active(store, "hub"),
        )  # fmt: skip
    if pressed:
        try:
            _start(store, project, one, repo, gated, private=private, password=password)
        except EvenhandError as error:
            show_error(error)
        else:
            st.rerun()


def _ask_password(project: Project, one: Release) -> str | None:
    if not locked_texts(project, one):
        return None
    return st.text_input(
        _("Archive password"), type="password", key=f"hub-password-{one.uid}", width=320,
        help=_(
            "Texts are uploaded as an encrypted archive (texts.zip), which can be opened only with this password."
        ),
    )  # fmt: skip


@asks("release")
def _start(
    store: Store, project: Project, one: Release, repo: str, gated: Gate | None, *, private: bool, password: str | None
) -> None:
    name = checked_repo(repo)
    settings = Settings(project.name, one.version, name, private=private, gated=gated, uid=project.uid)
    title = Notice(
        N_("Upload release {version} of {project} to the Hub"), {"version": one.version, "project": project.name}
    )
    secrets = None if password is None else {"EVENHAND_PASSWORD": checked_password(password)}
    start_job(store, PUSH, settings, title, project=project, secrets=secrets)
