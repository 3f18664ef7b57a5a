"""`score-sentence`, `demo-page`, `models`: chosen sentences under models, and the list of models."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option, number, option, table
from evenhand.core.demo_page.page import MODELS, answers_of, chosen_sentences, page_html
from evenhand.core.errors import N_, BadFile, NotAllowed
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.language import LANGUAGES, Language
from evenhand.core.models import Joint, known_models, open_scorer
from evenhand.core.resources import read_table
from evenhand.core.sentence_bias.bias import odds
from evenhand.core.sentence_bias.keyword_packs import read_words
from evenhand.core.sentence_bias.model_answer import ModelAnswer, WordForm, read
from evenhand.core.sentence_bias.slot import find_slot
from evenhand.core.typed_json import with_reasons
from evenhand.core.types import JsonObject, Scorer
from evenhand.core.worker import client


@click.command("score-sentence")
@click.argument("text")
@option("--model", required=True, help="A built-in model, a name on the Hugging Face Hub, or a folder.")
@option("--options", nargs=2, metavar="WORD WORD", help="The two words that compete for [MASK].")
@option(
    "--joint",
    type=click.Choice(["independent", "sequential", "geometric_mean"]),
    default="independent",
    help="How the characters of a longer word are put together.",
)
@option("--language", help="The language of TEXT (zh, en, ja, es, or that of --words); else recognised.")
@option(
    "--words",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Words to add to those of the language: a table with male, female; optional: kind, other, language.",
)
@json_option
@needs("try_models")
def score_sentence(
    text: str, model: str, options: tuple[str, str] | None, joint: Joint, language: str | None, words: Path | None,
) -> None:  # fmt: skip
    """Ask MODEL which word of a pair it prefers in TEXT.

    TEXT holds one keyword of a pair of its language, in English also a pronoun such as they or xe, or [MASK] with
    --options. Positive values lean towards the male word; for two words that are not a keyword pair, towards the first.
    """
    own = read_words(words, language) if words else ()
    find_slot(text, options=options, language=language, own=own)  # refuse an invalid sentence before loading a model
    reading = read(text, open_scorer(model, joint=joint), options=options, language=language, own=own)
    answer(as_data(reading), as_text(reading))


def as_data(reading: ModelAnswer) -> JsonObject:
    """Return the reading as a JSON object; an undefined number is None, with its reason in `<name>_reason`."""
    slot = reading.slot
    typed = "The place was typed as [MASK]." if slot.keyword is None else f"{slot.keyword} is neither of the two words."
    data: JsonObject = {
        "language": slot.language,
        "pair": slot.name,
        "words": [slot.male, slot.female],
        "sided": slot.sided,
        "leans_towards": _leans_towards(reading),
        "keyword": slot.keyword,
        "counterpart": slot.counterpart,
        "p_male": reading.p_male,
        "p_female": reading.p_female,
        "bias_log10": reading.bias_log10,
        "bias_ln": reading.bias_ln,
        "pair_mass": reading.pair_mass,
        "prior_log10": reading.prior.value,
        "corrected_log10": reading.corrected_log10,
        "small_mass": reading.small_mass,
        "counterpart_sentence": slot.counterpart_sentence,
        "forms": [_form_data(form) for form in reading.forms],
        "signature": reading.signature,
    }
    message, values = odds(reading.bias_log10, slot.own_words)
    infinite = message.format(**values)
    reasons = {
        "keyword": typed,
        "counterpart": typed,
        "counterpart_sentence": typed,
        "prior_log10": reading.prior.reason,
        "corrected_log10": reading.corrected_reason,
        "pair_mass": reading.mass_reason,
        "leans_towards": None if reading.bias_log10 is None else "Both words are equally likely.",
    }
    for key in [key for key, value in data.items() if value is None or _infinite(value)]:
        data[f"{key}_reason"] = reasons.get(key) or reading.reason or infinite
    return data


def _leans_towards(reading: ModelAnswer) -> str | None:
    """Return the more likely word; None if the ratio is undefined or 1."""
    value = reading.bias_log10
    return None if not value else reading.slot.male if value > 0 else reading.slot.female


def _form_data(form: WordForm) -> JsonObject:
    known = form.logp is not None and math.isfinite(form.logp)
    data = {"form": form.word, "logp": form.logp if known else None, "share": form.share}
    return with_reasons(data, form.reason or "This form has probability 0.")


def _infinite(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def as_text(reading: ModelAnswer) -> Iterator[str | None]:
    """Yield the reading in words: the ratio first, then its parts."""
    message, values = odds(reading.bias_log10, reading.slot.own_words)
    slot, mass = reading.slot, reading.pair_mass
    yield message.format(**values)
    yield reading.reason
    yield f"p({slot.male}) = {number(reading.p_male, '.4g')}"
    yield f"p({slot.female}) = {number(reading.p_female, '.4g')}"
    yield f"neither of the two: {number(None if mass is None else 1 - mass, '.1%')}"
    ratio = "Bias_c" if slot.sided else f"log ratio (+ {slot.male}, - {slot.female})"
    yield f"{ratio} = {number(reading.bias_log10, '+.4f')} (log10), {number(reading.bias_ln, '+.4f')} (ln)"
    if slot.entry is not None:
        yield f"less the pair's own lean: {number(reading.corrected_log10, '+.4f')} (log10)"
    if reading.forms:
        shares = (f"{form.word} {number(form.share, '.2%')}" for form in reading.forms)
        yield "share of all forms: " + ", ".join(shares)
    if reading.small_mass:
        yield "Both words together get less than 1% of the probability: interpret the ratio with caution."
    yield reading.signature


@click.command("models")
@json_option
@needs("try_models")
def models() -> None:
    """List the models by name: built-in ones, and those of the papers."""
    known = known_models(None)
    here = {True: "here", False: "not here"}
    rows = [(entry.name, entry.language, entry.task, here[entry.available], entry.note) for entry in known]
    answer({"models": known}, table(rows))


@click.command("demo-page")
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@option(
    "--sentences", type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="A TSV with the columns language, text and options (two words for [MASK], male first); else those built in.",
)  # fmt: skip
@option("--model", "models", multiple=True, help="Ask these models of every sentence, in this order.")
@option("--lang", type=click.Choice(LANGUAGES), default="en", help="The language in which the page opens.")
@json_option
@needs("measure")
def demo_page(out: Path, sentences: Path | None, models: tuple[str, ...], lang: Language) -> None:
    """Write one HTML file with what models say of chosen sentences.

    It opens from a folder or a mail: no server, nothing is fetched. Both
    languages, light and dark, and slides for a talk. The models are asked
    once, now.
    """
    if out.exists():
        raise NotAllowed(N_("{path} already exists. Choose another name."), path=str(out))
    chosen = chosen_sentences(None if sentences is None else read_table(sentences))
    scorers: dict[str, Scorer] = {}
    answered = []
    for one in chosen:
        names = models or MODELS.get(one.language, MODELS["en"])
        for name in names:
            scorers.setdefault(name, client.RemoteScorer(client.shared(), name))
        answered.append((one, answers_of(one, {name: scorers[name] for name in names})))
    failed = [each for _one, answers in answered for each in answers if each.reason is not None]
    if all(each.reading is None for _one, answers in answered for each in answers):
        raise BadFile(N_("No model could be run: {why}"), why=str(failed[0].reason))
    text = page_html(answered, language=lang)
    with whole_file(out) as write:
        write(text)
    for each in failed:
        click.echo(f"{each.model}: {each.reason}", err=True)
    data = {"out": str(out), "sentences": len(chosen), "models": list(scorers), "bytes": len(text.encode())}
    answer(data, f"{len(chosen)} sentences under {', '.join(scorers)} written to {out}")
