"""What the page Judges shows of a project, kept until a label is added; and who may see it."""

from dataclasses import dataclass

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.against_people import AgainstPeople, Drift, against_people, drift
from evenhand.annotations.judges.estimates import Estimates, estimates
from evenhand.annotations.judges.judges import RULE_NAME, Judge, judges, state_of_judges
from evenhand.annotations.labels.generation_labels import item_table, people_labels
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.text import _, plain
from evenhand.pages.ui.visitor import open_store


@dataclass(frozen=True)
class Found:
    """Every judge that has labelled something: against people, its rates with theirs, how it drifts."""

    judges: tuple[Judge, ...]
    against: dict[str, AgainstPeople]
    estimates: dict[str, Estimates]
    drift: dict[str, Drift]


def for_the_lead(store: Store, project: Project) -> bool:
    """Whether to show the page; an annotator with an open desk is asked first."""
    reader = annotator_at_desk(store, project)
    if reader is None or st.session_state.get("judges-shown") == project.uid:
        return True
    text = _("Your desk as {name} is open. This page reveals judges' labels of texts that you have not labelled.")
    st.warning(plain(text.format(name=reader.name)), icon=":material/visibility_off:")
    if st.button(_("I lead this project: show the page"), key="judges-show", icon=":material/visibility:"):
        st.session_state["judges-shown"] = project.uid
        st.rerun()
    return False


def current(store: Store, project: Project) -> Found:
    """The numbers of a project as they are now."""
    active = [person.uid for person in annotators(store, project)]
    return _reckoned(project.uid, (*state(store), *state_of_judges(store), *active), project)


# Shared between visits and never changed: the tables of a large project are copied for nobody.
@st.cache_resource(max_entries=4, show_spinner=False)
def _reckoned(uid: str, state_of_store: tuple[str, ...], _project: Project) -> Found:
    with open_store(_project) as store:
        every = tuple(one for one in judges(store, _project) if one.labels)
        if not every:
            return Found((), {}, {}, {})
        table, said = item_table(store, _project), people_labels(store, _project)
        return Found(
            every,
            {one.name: against_people(store, _project, one, said=said) for one in every},
            {one.name: estimates(store, _project, one, table) for one in every},
            {one.name: drift(store, one) for one in every},
        )


def judge_label(name: str) -> str:
    """What a judge is called on a page: its name, the usual one of the rule in the visitor's language."""
    return _(RULE_NAME) + name.removeprefix(RULE_NAME) if name.startswith(RULE_NAME) else name


def chosen_judge(found: Found, key: str = "judge") -> Judge:
    """A choice among the judges that have labelled something."""
    by_name = {one.name: one for one in found.judges}
    if st.session_state.get(key) not in by_name:
        st.session_state[key] = found.judges[0].name
    labels = {name: judge_label(name) for name in by_name}
    return by_name[str(st.selectbox(_("Judge"), list(by_name), key=key, format_func=labels.__getitem__))]
