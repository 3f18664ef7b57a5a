"""Predictions of the visitor's own classifier or coreference system, and own word vectors: computed at once."""

from pathlib import Path

import streamlit as st
from markupsafe import Markup

from evenhand.core.language import significant
from evenhand.core.other_measures.classifiers import ClassifierGaps, Gap, read_gaps
from evenhand.core.other_measures.weat import TESTS, built_in_sets, names_of, read_sets, read_vectors, weat
from evenhand.pages.other_measures.start import names_of_tests
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH, note_text, number, with_interval
from evenhand.pages.ui.tables import below, joined, number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, clauses, named, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown


def show_own() -> None:
    """Ask for a file of predictions or of word vectors, and show its measures."""
    kinds = {"predictions": _("Predictions of a classifier"), "vectors": _("Word vectors")}
    kind = choose(_("File"), kinds, "om-own")
    with errors_shown():
        if kind == "vectors":
            _show_vectors()
        else:
            _show_predictions()


def _show_predictions() -> None:
    caption(
        "A table with the columns gold and predicted. Add group for FPED and FNED, predicted_swapped"
        " for the same texts with swapped gender, or set (pro, anti) for the F1 gap of WinoBias."
    )
    path = choose_upload(_("Predictions"), ["csv", "tsv", "jsonl"], key="om-predictions")
    st.caption(
        ":material/report: "
        + plain(
            _(
                "Known limitation of FPED and FNED: they grow with the number of groups and, by"
                " chance, where a group is small (Czarnowska et al. 2021). Each is therefore shown"
                " with its value for shuffled groups."
            )
        )
    )
    if path is not None:
        _show_gaps(_gaps(str(path), path.stat().st_mtime))


@st.cache_data(max_entries=4, show_spinner=False)
def _gaps(path: str, changed: float) -> ClassifierGaps:
    del changed  # only part of the key
    return read_gaps(Path(path))


def _show_gaps(classifier_gaps: ClassifierGaps) -> None:
    names = {
        "fped": _("FPED (Dixon et al. 2018)"),
        "fned": _("FNED (Dixon et al. 2018)"),
        "fped_swapped": _("false positives, originals against swapped copies"),
        "fned_swapped": _("false negatives, originals against swapped copies"),
    }
    heads = [_("quantity"), _("value"), _("shuffled groups: mean"), _("95th percentile"), "p", _("rate of each group")]
    if classifier_gaps.gaps:
        words = {"original": _("originals"), "swapped": _("swapped copies")}
        rows = []
        for gap in classifier_gaps.gaps:
            rates = clauses(named(words.get(name, name), number(rate, ".3f")) for name, rate in gap.by_group.items())
            rows.append((names[gap.name], _gap(gap), *_null(gap), rates))
        show_html(table(number_columns(heads, (1, 2, 3, 4)), rows, kind="stacked"))
    if classifier_gaps.consistency is not None:
        text = _("Share of texts with the same label after the gender is swapped: {share}.")
        st.markdown(plain(text.format(share=with_interval(classifier_gaps.consistency, ".3f"))))
    if classifier_gaps.f1_gap is not None:
        text = _("F1 on pro-stereotypical sentences {pro}, on anti-stereotypical ones {anti}; gap {gap}.")
        values = {name: number(classifier_gaps.f1[name], ".3f") for name in ("pro", "anti")}
        st.markdown(plain(text.format(gap=number(classifier_gaps.f1_gap.value, "+.3f"), **values)))
        st.caption(plain(note_text(classifier_gaps.f1_gap.note or classifier_gaps.f1_gap.reason)))


def _gap(gap: Gap) -> Markup:
    note = gap.value.reason if gap.value.value is None else gap.value.note
    return joined([number(gap.value.value, ".4f"), below(note_text(note))])


def _null(gap: Gap) -> tuple[str, str, str]:
    if gap.null is None:
        return DASH, DASH, DASH
    return number(gap.null[0], ".4f"), number(gap.null[1], ".4f"), DASH if gap.p is None else significant(gap.p)


def _show_vectors() -> None:
    caption("WEAT on your own vectors in word2vec text format: one word and its numbers per line.")
    vectors = choose_upload(_("Vectors"), ["txt", "vec"], key="om-vectors")
    own_sets = choose_upload(_("Own word sets (JSON); default: Caliskan et al."), ["json"], key="om-sets")
    sets = read_sets(own_sets) if own_sets else built_in_sets()
    names = names_of_tests()
    if own_sets:
        text = st.text_input(_("Four sets: X,Y,A,B"), key="om-vector-test")
        tests = {entry: entry for entry in text.split()}
    else:
        chosen = st.multiselect(_("Tests"), list(TESTS), ["career", "math", "science"], format_func=names.__getitem__,
                                key="om-vector-tests")  # fmt: skip
        tests = {entry: TESTS[entry] for entry in chosen}
    if vectors is None or not tests:
        return
    words = [word for test in tests.values() for name in names_of(test, sets) for word in sets[name]]
    known = read_vectors(vectors, words)
    heads = [_("test"), "d", "P(s ≥ s_obs)", "P(s > s_obs)", _("effects under chance"), _("words without a vector")]
    rows = []
    for name, test in tests.items():
        weat_test = weat(test, sets, known)
        missing = clauses(" ".join(some) for some in weat_test.missing.values()) or DASH
        exact = _("exact, all {count} partitions") if weat_test.exact else _("{count} partitions, sampled")
        how = exact.format(count=f"{weat_test.partitions:,}") if weat_test.p is not None else ""
        p = joined([_p(weat_test.p), below(how or note_text(weat_test.p_reason))])
        effect = joined([number(weat_test.effect, ".3f"), below(note_text(weat_test.effect_reason))])
        band = f"{number(weat_test.band[0])} – {number(weat_test.band[1])}" if weat_test.band else DASH
        rows.append((names.get(name, name), effect, p, _p(weat_test.p_greater), band, missing))
    show_html(table(number_columns(heads, (1, 2, 3, 4)), rows, kind="stacked"))
    caption("P(s ≥ s_obs) is the p of exact tests; P(s > s_obs) is what Caliskan et al. (2017) write.")


def _p(p: float | None) -> str:
    return DASH if p is None else significant(p, 4)
