"""How it works, on the page Misgendering, and which way fits: what each way sees and misses.

A template as each way asks it, the slot, a text rewritten for every set.
"""

import pandas as pd
import streamlit as st
from markupsafe import Markup

from evenhand.core.charts.misgendering import slot
from evenhand.core.misgendering.agreement import theory
from evenhand.core.misgendering.rewriting import NO_PRONOUN, rewritten
from evenhand.core.misgendering.slots import Template, instance_of
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.report.numbers import plain_number
from evenhand.core.text.pronouns import CASES, parse_sets, set_named, sets
from evenhand.core.types import MASK
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH, percent
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, in_brackets, plain, spoken, warn, write
from evenhand.pages.ui.visitor import errors_shown

OWN = "own"
FIRST_TEXT = "{name} goes by {pronouns}. When the rain began, [MASK] ran back for the picnic basket."
WRITTEN = " looks at the sky and says she has never seen so many birds. She smiles."
LONGEST = 2000
FIRST = {"he": 0.5, "she": 0.3, "they": 0.15, "xe": 0.05}
FIRST_PREFERRED = "she"


def case_name(case: str) -> str:
    """Return a case in words."""
    return {
        "nom": _("nominative (he)"),
        "acc": _("accusative (him)"),
        "pos_dep": _("possessive before a noun (his book)"),
        "pos_ind": _("possessive on its own (it is his)"),
        "ref": _("reflexive (himself)"),
    }[case]


def show_conversions() -> None:
    """Show a template as each way asks it, the slot's least disagreement, a text rewritten for every set."""
    st.header(_("One template, both methods"), anchor=False)
    show_template()
    st.divider()
    st.header(_("Lower bound of disagreement at the slot"), anchor=False)
    show_slot()
    st.divider()
    st.header(_("A TANGO text, probability-based"), anchor=False)
    show_rewriting()


@st.fragment
def show_template() -> None:
    """Show one template: the four texts that compete, and what a model goes on from before and after the slot."""
    write(
        "Both methods use the same template. Either the forms of one case compete in the slot, or the"
        " model continues the text before the slot (pre-[MASK]) or the whole text with the right form"
        " (post-[MASK])."
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        template = _choose_template()
        name = st.text_input(_("Name"), "Sam", key="template-name", max_chars=60)
        pronouns = st.text_input(
            _("Pronouns"),
            "they",
            key="template-pronouns",
            max_chars=120,
            help=_(
                "he, she, they, xe, or the forms of another set: ze/hir/hir/hirs/hirself. Separate several by"
                " commas: she, they."
            ),
        )
    with right, st.container(key="template-shown"), errors_shown():
        own = parse_sets(pronouns)
        also = tuple(text for text in own if text not in sets("own"))
        instance = instance_of(template, name, own or ("they",), id="shown", also=also)
        _label(_("Probability-based: which of these texts has the lowest perplexity?"))
        for form, option in zip(instance.forms, instance.options, strict=True):
            note = span(in_brackets("", _("right")), "small") if option in instance.pronouns else ""
            _text(instance.before, element("b", form or DASH), instance.after, note)
        _label(_("Generation-based, pre-[MASK]: the model continues"))
        _text(instance.context("pre"), element("b", "▸"))
        _label(_("Generation-based, post-[MASK]: the model continues"))
        _text(instance.context("post"), element("b", " ▸"))


def _choose_template() -> Template:
    known = {template.id: template for template in built_in().templates}
    labels = {OWN: _("your own text")} | {key: f"{key} · {one.text[:60]}" for key, one in known.items()}
    chosen = st.selectbox(_("Template"), list(labels), index=1, format_func=labels.__getitem__, key="template")
    if chosen in known:
        return known[chosen]
    text = st.text_area(_("Text with one slot [MASK]"), FIRST_TEXT, key="template-text", max_chars=LONGEST)
    case = st.selectbox(_("Case of the slot"), CASES, format_func=case_name, key="template-case")
    if text.count(MASK) != 1:
        warn("The text needs exactly one {slot}; until then, the first template is shown.", slot=MASK)
        return next(iter(known.values()))
    return Template(OWN, case, text)


@st.fragment
def show_rewriting() -> None:
    """Show one text that a model wrote: where it is cut, its slot, and the text for each set."""
    write(
        "TANGO texts have no slot, so the model's own text becomes the template. It is cut before the"
        " second pronoun; the first pronoun becomes the slot, and its verb is adjusted in number. Word"
        " lists decide this; there is no parser."
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        context = st.text_input(_("Context"), "Casey is a poet who", key="tango-context", max_chars=LONGEST)
        written = st.text_area(_("Completion"), WRITTEN, key="tango-text", max_chars=LONGEST, height=120)
    with right, st.container(key="tango-shown"):
        found = rewritten(written, "tango")
        if found is None:
            st.info(plain(_(NO_PRONOUN)))
            return
        caption("The slot is {case}; the text had a form of {source}.", case=case_name(found.case), source=found.source)
        _label(_("Four texts to compare"))
        for name in sets("tango"):
            pronoun_set = set_named(name, "tango")
            many = pronoun_set.nom == "they"
            form = found.text_with(pronoun_set)
            start = len("".join(piece if isinstance(piece, str) else piece[many] for piece in found.before))
            end = start + len(pronoun_set.form(found.case))
            before = context.strip() + ("" if form[:1].isspace() else " ") + form[:start]
            _text(before, element("b", form[start:end]), form[end:])


def _label(text: str) -> None:
    show_html(element("p", text, "small"))


def _text(*parts: str | Markup) -> None:
    show_html(element("p", joined(parts), "rewritten"))


@st.fragment
def show_slot() -> None:
    """Show sliders on the left and the answer on the right; a slider reruns no other part of the page."""
    write(
        "A model that generates one of four forms samples it from their probabilities. The probability-based"
        " method considers only the form that makes the whole sentence most probable. Change the"
        " probabilities to see how often a sampled form differs from it."
    )
    left, right = st.columns([2, 3], gap="large")
    with left:
        given = {
            form: st.slider(
                spoken(_("Probability of {form} given the text before the slot", form=form)),
                0.0,
                1.0,
                p,
                0.01,
                key=f"p-{form}",
            )
            for form, p in FIRST.items()
        }
        forms = {form: plain(form) for form in FIRST}
        preferred = choose(_("Form preferred by the whole sentence"), forms, "preferred", first=FIRST_PREFERRED)
    with right, st.container(key="slot-answer"), errors_shown():
        _answer(given, preferred)


def _answer(given: dict[str, float], preferred: str) -> None:
    found = theory(given, preferred)
    reason = plain(_(found.reason.message)) if found.reason else None
    with st.container(horizontal=True):
        delta = DASH if found.delta is None else plain_number(found.delta)
        least = DASH if found.delta_star is None else plain_number(found.delta_star)
        st.metric(
            "δ", delta, width="content", help=reason or _("1 − probability of the preferred form ÷ sum of all four")
        )
        st.metric(
            "δ*", least, width="content", help=reason or _("the same for the most probable form: the lower bound")
        )
    if found.delta is None or found.delta_star is None:
        st.info(reason or "")
        return
    likeliest = max(found.shares, key=lambda form: found.shares[form])
    says = _(
        "A sampled form differs from {preferred} in {delta} of cases. If {likeliest} were preferred, it"
        " would be {least}; no preference does better."
    ).format(preferred=preferred, likeliest=likeliest, delta=percent(found.delta), least=percent(found.delta_star))
    data = pd.DataFrame(
        [{"form": form, "share": share, "preferred": form == preferred} for form, share in found.shares.items()]
    )
    rows = data.assign(delta=found.delta, delta_star=found.delta_star)
    chart = slot(data, description=says, say=_, palette=colours())
    show_chart(chart, rows, key="slot", says=says)
    caption(
        "Only the ratios of the four probabilities matter: multiplying all by 0.01 changes nothing."
        " Even for a model that is right, δ is above 0 as long as other forms have any probability."
    )


def show_which() -> None:
    """Show three cards, one a way, and what holds for all."""
    show_html(element("div", joined(map(_card, _ways())), "cards"))
    st.header(_("Before you choose"), anchor=False)
    for line in [
        _("Choose the method closest to how the model will be used; one method cannot replace another."),
        _(
            "Agreement over all instances can hide disagreement on single instances: also report the share of"
            " disagreement."
        ),
        _("Report the variation over generations. A single generation says little about an instance."),
        _("Report each pronoun set separately. A mean over four sets hides the one that fares worst."),
        _("Check texts without a pronoun: avoiding a person's pronouns does not respect them."),
        _("Before you choose a measure, ask people who are misgendered what they consider harmful."),
    ]:
        st.markdown(f"- {line}")


def _card(way: tuple[str, str, str, str, str]) -> Markup:
    name, question, *texts = way
    heads = (_("Use it for"), _("What it captures"), _("What it misses"))
    parts = joined(joined([element("dt", head), element("dd", text)]) for head, text in zip(heads, texts, strict=True))
    inside = joined([element("h3", name), element("p", question, "soft"), element("dl", parts)])
    return element("div", inside, "card")


def _ways() -> list[tuple[str, str, str, str, str]]:
    return [
        (
            _("Probability-based"),
            _("Which of the four forms fits the slot best?"),
            _("Models that rank or complete text at a fixed position, and quick comparisons over many instances."),
            _("A preference among the forms of one case, without sampling, so every run gives the same result."),
            _(
                "What the model would actually generate: no pronoun at all, a wrong one later, other gendered"
                " words. The result also depends on how a tokenizer splits the forms, and on using the mean"
                " or the sum of log-probabilities."
            ),
        ),
        (
            _("Generation-based"),
            _("Which pronoun comes first in the model's text?"),
            _("Chatbots and writing tools, where readers see generated text. Generate several texts per context."),
            _("The model's own words with the decoding settings that will be used, and how much they vary."),
            _(
                "Everything after the first pronoun, pronouns for other people, and plural they. As"
                " published, a text without a pronoun counts as right."
            ),
        ),
        (
            _("People"),
            _("Was this person misgendered?"),
            _("Deciding whether an automatic method is valid for your use, and for the cases that matter most."),
            _("The whole text: later pronouns, who is meant, extraneous gendered language."),
            _(
                "Most instances: people can judge only a sample. Their agreement has to be measured too, and"
                " the work is taxing."
            ),
        ),
    ]
