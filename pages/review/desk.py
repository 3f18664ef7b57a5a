"""The desk as a component, registered once per process."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk import frontend
from evenhand.annotations.desk.routes import PATH
from evenhand.annotations.types import Annotator, Project
from evenhand.core.language import Language
from evenhand.pages.ui.visitor import base_path

_component = st.components.v2.component(
    "evenhand_desk", html=frontend.frame(), css=frontend.style(), js=frontend.script()
)


def show_desk(store: Store, project: Project, annotator: Annotator, language: Language) -> None:
    """Show the desk of one annotator; its labels go over the routes of annotations/desk/routes.py, not through the
    page."""
    data = frontend.start_data(store, project, annotator, language=language, api=base_path() + PATH)
    _component(key=f"desk-{project.uid}-{annotator.uid}", data=data, on_sign_in_change=lambda: None)
