"""The only shared UI: language, the store of this run, the head of a page, charts with their files, text as it is."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar
from urllib.parse import unquote, urlsplit

import streamlit as st

from annotations.database.store import Store
from annotations.types import Kind, Project
from core.errors import EvenhandError
from core.files.cells import neutralised
from core.language import LANGUAGES, Language, explain, translate

if TYPE_CHECKING:  # both cost a third of a second to import; the first page draws no chart
    import altair as alt
    import pandas as pd

    Table: TypeAlias = pd.DataFrame | Sequence[Mapping[str, Any]]
    Drawing: TypeAlias = (
        alt.Chart
        | alt.LayerChart
        | alt.HConcatChart
        | alt.VConcatChart
        | alt.ConcatChart
        | alt.FacetChart
        | alt.RepeatChart
    )

Option = TypeVar("Option", bound=str)
Inputs = ParamSpec("Inputs")
DASH = "—"  # an undefined value: never 0, never an empty cell on a page


def language() -> Language:
    """The language of this visitor: ?lang=, else what was chosen, else the browser's."""
    asked = st.query_params.get("lang")
    if asked in LANGUAGES and st.session_state.get("language") != asked:
        st.session_state["language"] = asked
    if st.session_state.get("language") not in LANGUAGES:
        st.session_state["language"] = "zh" if (st.context.locale or "en").lower().startswith("zh") else "en"
    chosen: Language = st.session_state["language"]
    return chosen


def _(text: str) -> str:
    """*text* in the visitor's language."""
    return translate(text, language())


def series(things: Iterable[str]) -> str:
    """One thing after the other, set apart as the visitor's language does it: A, B or 甲、乙."""
    return _(", ").join(things)


def paragraph(sentences: Iterable[str]) -> str:
    """Sentences one after the other: with a space between them in English, without one in Chinese."""
    return ("" if language() == "zh" else " ").join(sentences)


def unknown_address(url: str | None, shown: str, base: str = "") -> str | None:
    """What an address asks for that is no page; None where it leads to the page that is shown.

    *url* is the visitor's address, *shown* the path of the page that opened, *base* the folder the app is served in.
    """
    path = unquote(urlsplit(url or "").path).strip("/")
    base = base.strip("/")
    path = path.removeprefix(base).strip("/") if base else path
    return path if path and path != shown else None


@contextmanager
def open_store() -> Iterator[Store]:
    """The database for this run of the page; never keep it longer."""
    with Store.open() as store:
        yield store


def page_head(title: str, text: str = "") -> None:
    """The title of a page and one paragraph that says what it is for."""
    st.title(title)
    if text:
        st.write(text)


def plain(text: str) -> str:
    """*text* with every sign of Markdown escaped: for help, messages and the names of buttons and pills.

    The labels of other inputs want `spoken`. The options of a selectbox or multiselect are no Markdown at all.
    """
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+\-.!|$~:&=^@])", r"\\\1", text.replace("\n", " "))
    # Streamlit looks for icons after the escapes are gone; an invisible joiner keeps ":material/" a word.
    return escaped.replace(r"\:material/", "\\:\u2060material/")


def spoken(text: str) -> str:
    """*text* for the label of a box to choose or write in: without the signs of Markdown.

    A screen reader is given such a label as it stands, so that it would read out the backslashes of `plain`.
    """
    return " ".join(re.sub(r"[\\`*_{}\[\]()<>#+|$~:&=^@]", " ", text).split())


def show_error(error: EvenhandError) -> None:
    """A known error as one sentence in the visitor's language; its values are shown as they are."""
    st.error(plain(explain(error, language())), icon=":material/error:")


def in_one_sentence(part: Callable[Inputs, None]) -> Callable[Inputs, None]:
    """A part of a page that runs again by itself: the frame is not around it then, so it says a known error itself."""

    @wraps(part)
    def told(*args: Inputs.args, **kwargs: Inputs.kwargs) -> None:
        try:
            part(*args, **kwargs)
        except EvenhandError as error:
            show_error(error)

    return told


def literal(text: str, *, size: str = "1rem") -> None:
    """Text from a file, exactly as it is: nothing in it is read as HTML or Markdown."""
    st.html(f'<span style="white-space:pre-wrap;font-size:{size}">{html.escape(text)}</span>')


def undefined(value: float | None, reason: str = "", form: str = "{:.3f}") -> tuple[str, str | None]:
    """What to show for *value*, and the help beside it: (a dash, the reason) where it is None.

    `text, help = undefined(kappa.value, _(kappa.reason)); st.metric(label, text, help=help)`
    """
    if value is None:
        return DASH, plain(reason) or None
    return form.format(value), None


def choose(
    label: str,
    names: Mapping[Option, str],
    key: str,
    *,
    first: Option | None = None,
    address: str = "",
    heading: bool = True,
    explained: str | None = None,
) -> Option:
    """One of a few options, all in view; exactly one is always chosen.

    *names*: option to the words on its button, in their order. *first*: what is chosen at the start, else the first.
    *address*: a name in the address where the choice is kept, so that a link opens it. *heading*: False hides *label*
    (a screen reader still says it). *explained*: the help beside the label.
    """
    if st.session_state.get(key) not in names:
        asked = st.query_params.get(address) if address else None
        at_start = next(iter(names)) if first is None else first
        st.session_state[key] = next((option for option in names if option == asked), at_start)
    st.segmented_control(
        label,
        list(names),
        format_func=names.__getitem__,
        key=key,
        required=True,
        label_visibility="visible" if heading else "collapsed",
        help=explained,
    )
    chosen: Option = st.session_state[key]
    if address:
        st.query_params[address] = chosen
    return chosen


def choose_project(store: Store, key: str = "project", *, kind: Kind | None = None) -> Project | None:
    """A choice among the open projects; None, and what to do said, where there is none.

    ?project=NAME opens that one; the choice is kept from page to page and in the address. *kind*: only such projects;
    where there is none, nothing is said: the page knows what it needs.
    """
    from annotations.projects.projects import projects  # here, so that a page without projects starts without it

    every = {project.name: project for project in projects(store)}
    found = {name: project for name, project in every.items() if kind in (None, project.kind)}
    if not found and kind is not None:
        return None
    if not found:
        st.info(_("There is no project yet. Create one, or make the demo project, on the page Projects."))
        st.page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        return None
    asked = st.query_params.get("project")
    if asked and asked not in every:
        st.warning(plain(_("There is no open project named {name}.").format(name=asked)))
    meant = asked if asked in every else st.session_state.get("last_project")
    if st.session_state.get(key) not in found:
        st.session_state[key] = meant if meant in found else next(iter(found))
    name = st.selectbox(_("Project"), list(found), key=key, on_change=_picked, args=(key,))
    picked = st.session_state.pop(f"{key}-picked", False)
    if meant in every and meant not in found and not picked:
        # The visitor works on a project of another kind and only looks in here: all other pages stay with that one.
        st.info(plain(_("{project} is of another kind and has nothing for this page.").format(project=meant)))
        st.session_state["last_project"] = meant  # the address alone does not last: the navigation drops it
        return found[name]
    st.session_state["last_project"] = st.query_params["project"] = name
    return found[name]


def _picked(key: str) -> None:
    st.session_state[f"{key}-picked"] = True


def _guarded(cell: Any) -> Any:
    return neutralised(cell) if isinstance(cell, str) else cell


def csv_bytes(data: "Table") -> bytes:
    """*data* as CSV in UTF-8 with a BOM; undefined is an empty cell; no cell and no heading runs as a formula."""
    import pandas as pd

    frame = pd.DataFrame(data)
    guarded = frame.map(_guarded).rename(columns=_guarded)
    text: str = guarded.to_csv(index=False, lineterminator="\r\n")  # RFC 4180; also quotes a lone \r
    return text.encode("utf-8-sig")


def _picture(chart: "Drawing", kind: Literal["svg", "png"]) -> bytes:
    from core.charts.export import picture

    return picture(chart, kind)


def trial_banner(models: Iterable[str]) -> None:
    """What stands above every number of models that ship with the app; nothing where none of *models* does."""
    from core.models.catalogue import BUILTIN

    if built_in := [model for model in models if model in BUILTIN]:
        text = _("Built-in models ({models}) are for trying the app, not for findings.")
        st.caption(":material/info: " + plain(text.format(models=series(built_in))))


def downloads(data: "Table", *, key: str, chart: "Drawing | None" = None) -> None:
    """A small menu: the numbers as CSV and, for a chart, the picture as SVG and PNG; each is made when asked for."""
    with st.popover(_("Download"), icon=":material/download:", type="tertiary", key=f"{key}-menu"):
        st.download_button(
            "CSV", lambda: csv_bytes(data), f"{key}.csv", "text/csv", key=f"{key}-csv", on_click="ignore"
        )
        if chart is None:
            return
        st.download_button(
            "SVG", lambda: _picture(chart, "svg"), f"{key}.svg", "image/svg+xml", key=f"{key}-svg", on_click="ignore"
        )
        st.download_button(
            "PNG", lambda: _picture(chart, "png"), f"{key}.png", "image/png", key=f"{key}-png", on_click="ignore"
        )


def show_chart(chart: "Drawing", data: "Table", *, key: str, says: str) -> None:
    """A chart, the sentence that says what it shows, and its numbers and picture to take away.

    *says* is also what a screen reader reads in place of the picture.
    """
    with st.container(key=f"{key}-box"):
        # A chart with a description of its own brings it along; both at once are a warning in the log.
        st.altair_chart(chart, key=key, alt=None if isinstance(chart.description, str) else says)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(plain(says))
            downloads(data, key=key, chart=chart)
