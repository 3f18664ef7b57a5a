"""Which models are compared, on which items, with which untouched text; the start of the job."""

from pathlib import Path

import streamlit as st

from evenhand.annotations.before_after.runs import BEFORE_AFTER
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.project_texts import PROJECT
from evenhand.core.before_after.appendix import short
from evenhand.core.before_after.run import BUILT_IN, built_in_language, built_in_name
from evenhand.core.before_after.settings import Settings
from evenhand.core.errors import EvenhandError
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.tune.report import model_of, tuned_runs
from evenhand.pages.ui.choose import choose, choose_models, choose_project, every_model, language_name, warn_of_language
from evenhand.pages.ui.runs import RunPage, RunRequest, own_runs, show_start_form
from evenhand.pages.ui.text import _, language, series
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import show_error

COMPARISONS = RunPage("comparisons", "before-after", form_key="ba-{part}", run_key="ba-{part}-{run}")
PLACE, TEXT = "ba-items-0", "ba-text-0"
ENDINGS = ["csv", "tsv", "jsonl", "json", "txt"]


def show_new(store: Store) -> None:
    """The form."""
    with st.container(border=True, key="ba-form"):
        names = [entry.name for entry in every_model()]
        tuned = own_runs(store, tuned_runs(store.path))
        own = [str(model_of(run)) for run in tuned]
        _from_address()
        first = "demo-zh" if language() == "zh" else "demo-en"
        if tuned:  # the newest comes after, so what it was made of comes before
            first = str(tuned[0].facts("base").get("name") or first)
        before = _models(_("Before"), [*names, *own], "ba-before", [first], _("The unchanged model; exactly one."))
        after = _models(
            _("After"), [*own, *names], "ba-after", own[:1], _("The changed model, in one or several seeds.")
        )
        placebo = _models(
            _("Placebos"), [*own, *names], "ba-placebo", [],
            _(
                "Trained for as long on the same texts, unswapped: one per model after, in the same order, or"
                " none."
            ),
        )  # fmt: skip
        try:
            request = _request(store, before, after, placebo)
        except EvenhandError as error:
            show_error(error)
            request = None
        show_start_form(store, COMPARISONS, f"{short(after[0])}" if after else "before-after", request)


def built_in_label(written: str) -> str:
    """What the built-in items of a language are called."""
    return _("Built-in neutral sentences ({language})").format(language=language_name(written))


def _from_address() -> None:
    for key in ("before", "after"):
        if (asked := st.query_params.get(key)) and f"ba-{key}" not in st.session_state:
            st.session_state[f"ba-{key}"] = [asked]


def _models(label: str, names: list[str], key: str, first: list[str], help: str) -> tuple[str, ...]:
    return choose_models(list(dict.fromkeys(names)), key, first=first, help=help, label=label)


def _request(
    store: Store, before: tuple[str, ...], after: tuple[str, ...], placebo: tuple[str, ...]
) -> RunRequest[Settings] | None:
    written = built_in_language(BUILT_IN, before[0] if before else "") or "zh"
    kinds = {"built-in": built_in_label(written), "project": _("A project"), "file": _("A file")}
    kind = choose(_("Items"), kinds, "ba-source")
    project, uploads = None, list[Path]()
    items: str | None = built_in_name(written)
    if kind == "built-in":
        warn_of_language([*before, *after, *placebo], written)
    elif kind == "project":
        project = choose_project(store, kind="sentences")
        items = f"{PROJECT}{project.name}" if project else None
    elif kind == "file":
        path = choose_upload(_("File"), ENDINGS, key=PLACE)
        items = str(path) if path else None
        uploads += [path] if path else []
    text = choose_upload(
        _("Held-out text, one text per line"), ["txt", "gz"], key=TEXT,
        help=_("What the change cost: how well each model predicts text that none of them was trained on."),
    )  # fmt: skip
    margin = st.number_input(
        _("Margin (log10)"), 0.0, 2.0, MARGINS["log10"], 0.01, key="ba-margin",
        help=_("A change in the magnitude of Bias_c smaller than this counts as none; 0: nothing is decided."),
    )  # fmt: skip
    if items is None or not before or not after:
        return None
    settings = Settings(
        items, before[0], after, placebo, text, round(margin or 0.0, 4), uid=project.uid if project else None,
    )  # fmt: skip
    title = _("Compare {before} with {after}").format(before=short(before[0]), after=series(map(short, after)))
    place = PLACE if kind == "file" else ""
    uploads += [text] if text else []
    return RunRequest(title, BEFORE_AFTER, settings, uploads=uploads, place=place, project=project)
