"""The report as one HTML file for a paper's appendix: it has no scripts and fetches nothing.

Every text from a file is escaped, and figures are inline SVG. The settings, the hash of the data, the versions and the
signatures say how each number was made. Each formula of the method has its source.
"""

import hashlib
import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from evenhand.core.charts.palette import LIGHT, css_variables
from evenhand.core.charts.style import picture
from evenhand.core.errors import N_, BadFile
from evenhand.core.language import Language, Say, translate, translate_stored
from evenhand.core.model_bias import (
    Groups,
    Summary,
    extremes,
    models_of,
    prior_corrected,
    seed_groups,
    summarise,
    summarise_by,
)
from evenhand.core.report.figures import WIDTH, Figure, figures
from evenhand.core.report.html_tables import Asked, Paper, list_html, table_html, table_lines
from evenhand.core.report.several_models import default_margins, differences_html, seeds_html, words_html
from evenhand.core.sentence_bias.bias import OBVIOUS, Denominator, SideMeans, side_means
from evenhand.core.statistics.equivalence import Margins
from evenhand.core.version import VERSION

METHOD = (
    (
        "Bias_c",
        N_(
            "= log10(p(male word) / p(female word)) at the masked keyword of a sentence (SlguSet paper,"
            " equation 1; after Kurita et al. 2019, whose measure divides each probability by a prior)."
            " The male word is always in the numerator. A word of several characters has one mask for each"
            " character that differs; its probability is the product over the masks."
        ),
    ),
    (
        "Bias_man, Bias_woman, Model_bias",
        N_(
            "= the mean of the positive values, the mean magnitude of the negative values, and the mean of"
            " these two (SlguSet paper, equations 2 and 3). With the denominator 'all', each sum is"
            " divided by the number of all finite values (journal paper). A value of 0 belongs to neither"
            " side. ln = log10 × 2.3026; only ln is consistent with the paper's Table 4."
        ),
    ),
    (
        N_("Pair mass"),
        N_(
            "= p(male word) + p(female word). Where it is small, the model prefers other words and the"
            " ratio means little."
        ),
    ),
    (
        N_("Prior-corrected"),
        N_("= Bias_c minus the mean Bias_c of its keyword pair in the same model and data: what the context adds."),
    ),
    (
        N_("Variance"),
        N_(
            "= the variance of Bias_c divided into the shares between mask counts, between pairs with the"
            " same mask count, and within pairs."
        ),
    ),
    (
        N_("Side AUC"),
        N_(
            "= the probability that, of two sentences of one word pair, the one whose source had the"
            " male word has the larger Bias_c; word pairs are weighted by their number of such"
            " comparisons. 0.5: the context is uninformative."
        ),
    ),
    (
        N_("Intervals"),
        N_(
            "95%. Signed mean, side AUC and correlations: over all subsets of the stems of the word"
            " pairs (男/女 is the stem of seven pairs), because sentences of a pair share its"
            " preference; with fewer than 6 stems there is no interval (docs/nulls.md). Bias_man,"
            " Bias_woman, Model_bias and mean magnitude: jackknife t intervals over sentences, or"
            " over articles where the scores name them; above 400 units, from the spread of"
            " resamples on the log scale (docs/coverage.md). These intervals apply to other contexts"
            " of these word pairs only."
        ),
    ),
)
UNDEFINED = N_(
    "Undefined values (a missing probability, or 0 for both words) and infinite values (0 for one"
    " word) are excluded from all means. They are counted here and never treated as 0."
)
WORDS = N_(
    "Topic words of sentences that lean obviously to one side; keywords are excluded. A high weight"
    " means that a word is common on a side, not that the sides differ. An asterisk marks words"
    " whose share differs between the sides (permutation within keyword pairs, p < 0.05 after the"
    " Holm correction over the words shown)."
)


EXTREMES = 5
LISTED = 20  # rows without a value that are listed
PACKAGES = ("pandas", "numpy", "scipy", "altair", "vl-convert-python")


@dataclass(frozen=True, slots=True)
class ReportSettings:
    """The models of a report, its data, and the settings of its numbers.

    `models`: in this order; () for all, in the order of the file. `data`: the name of the score file and `digest` its
    SHA-256; "" where the rows come from elsewhere, so that the report has only the hash of the rows. `seeds`: models
    that are seeds of one model (None: as their names say). `margins`: by scale, the size up to which two models count
    as equal.
    """

    models: tuple[str, ...] = ()
    denominator: Denominator = "side"
    least_mass: float | None = None
    data: str = ""
    digest: str = ""
    extremes: int = EXTREMES
    seeds: Groups | None = None
    margins: Margins = field(default_factory=default_margins)


def write_report(
    frame: pd.DataFrame, out: Path, asked: Asked, *, settings: ReportSettings | None = None, language: Language = "en"
) -> Path:
    """Write the report of score rows (as `core.model_bias.read_scores` gives them) to *out*.

    Raises BadFile where *out* cannot be written.
    """
    text = report_html(frame, asked, settings=settings, language=language)
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        message = N_("{file} cannot be written: {why}.")
        raise BadFile(message, file=str(out), why=error.strerror or error) from error
    return out


def report_html(
    frame: pd.DataFrame,
    asked: Asked,
    *,
    settings: ReportSettings | None = None,
    language: Language = "en",
    summaries: Mapping[str, Summary] | None = None,
) -> str:
    """Return the report as HTML. *asked*: gives the numbers of a model by their ids in the catalogue of quantities.

    *summaries*: known ones with the same settings, which are not computed again.
    """
    settings = settings or ReportSettings()

    def say(text: str) -> str:
        return translate(text, language)

    models = list(settings.models) or models_of(frame)
    frame = frame[frame["model"].isin(models)]
    how: dict[str, Any] = {"denominator": settings.denominator, "least_mass": settings.least_mass}
    found = [(summaries or {}).get(model) or summarise(frame, model=model, **how) for model in models]
    groups = {model: summarise_by(frame, "pair", model=model, resamples=200, **how) for model in models}
    kept = frame if settings.least_mass is None else frame[~(frame["pair_mass"] < settings.least_mass)]
    kept = kept.assign(corrected_log10=prior_corrected(kept))
    papers, notes = paper_values(), model_notes(models, say)
    seeds = seed_groups(models) if settings.seeds is None else settings.seeds
    drawn = figures(kept, found, asked, groups, seeds=seeds, papers=papers, notes=notes, say=say)
    body = [
        _head(models, frame, settings, say),
        _figure(drawn[0], 1),
        _heading(say(N_("All measures"))),
        _table(found, asked, kept, settings, papers, notes, say),
        *(_figure(figure, number) for number, figure in enumerate(drawn[1:], 2)),
        *_together(found, kept, seeds, settings, say),
        _heading(say(N_("Extremes"))),
        *(_extremes(kept[kept["model"] == model], model, settings.extremes, say) for model in models),
        _heading(say(N_("Topic words"))),
        f"<p class=note>{_e(say(WORDS))}</p>",
        *(words_html(kept[kept["model"] == model], model, say) for model in models),
        _undefined(frame, say),
        _method(say),
        _how_made(found, frame, settings, say),
    ]
    title = say(N_("Models side by side"))
    return PAGE.format(
        language="zh-CN" if language == "zh" else "en",
        title=_e(f"{title} · {settings.data}" if settings.data else title),
        style=f":root{{{css_variables(dark=False)}}}" + SHEET + CSS.read_text(encoding="utf-8"),
        body="\n".join(body),
    )


def paper_values() -> dict[str, Paper]:
    """Return Table 4 of the paper, in ln, by the names of models on the hub."""
    from evenhand.core.published.slguset import table4

    return dict(table4())


def model_notes(models: Sequence[str], say: Say) -> dict[str, str]:
    """Return notes that readers need before the numbers of a model: untrained, for trials, or in Table 4."""
    from evenhand.core.model_bias import is_reference
    from evenhand.core.worker.client import known_models

    trial = {entry.name for entry in known_models(None) if entry.builtin}
    printed = paper_values()
    result = {}
    for model in models:
        if is_reference(model):
            result[model] = say(N_("untrained, as a reference"))
        elif model in trial:
            result[model] = say(N_("for trying out the app, not for findings"))
        elif model in printed:
            result[model] = say(N_("in the paper's Table 4"))
    return result


PAGE = """<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title><style>{style}</style></head><body><main>
{body}
</main></body></html>
"""
CSS = Path(__file__).with_name("report.css")
SHEET = f"""
:root {{ color-scheme: light }}
body {{ margin: 0; background: {LIGHT.paper}; color: {LIGHT.ink}; line-height: 1.6;
  font-family: "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei", system-ui, sans-serif }}
main {{ max-width: 1100px; margin: 0 auto; padding: 2.5rem 1.5rem 4rem }}
h1 {{ font-size: 2rem; margin: 0 0 .3rem }} h2 {{ font-size: 1.35rem; margin: 2.8rem 0 .6rem }}
h3 {{ font-size: 1.05rem; margin: 1.4rem 0 .4rem; overflow-wrap: anywhere }}
.lead, .note, figcaption {{ color: {LIGHT.soft}; font-size: .92rem }}
figure {{ margin: 2.2rem 0 }} figure h2 {{ margin: 0 0 .4rem }}
figure > div {{ overflow-x: auto; background: {LIGHT.card}; border: 1px solid {LIGHT.line}; border-radius: 12px }}
figure svg {{ display: block; max-width: 100%; height: auto; margin: 0 auto }}
.two {{ display: grid; grid-template-columns: 1fr 1fr; gap: 2rem }}
.facts {{ display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.4rem; font-size: .92rem }}
.facts dt {{ color: {LIGHT.soft} }} .facts dd {{ margin: 0; overflow-wrap: anywhere }}
.words {{ border-collapse: collapse }} .words th, .words td {{ text-align: left; padding: .25rem 1.2rem .25rem 0 }}
code {{ font-size: .82rem; overflow-wrap: anywhere }}
@media (max-width: 760px) {{ .two {{ grid-template-columns: 1fr; gap: .5rem }} main {{ padding: 1.2rem .9rem 3rem }}
  .facts {{ grid-template-columns: 1fr }} .facts dd {{ margin-bottom: .5rem }} }}
@media print {{ body {{ background: none }} figure, .models-list li {{ break-inside: avoid }}
  .models-scroll {{ overflow: visible }} .models-table tbody th {{ position: static }} }}
"""
_e: Callable[[str], str] = html.escape


def _heading(text: str) -> str:
    return f"<h2>{_e(text)}</h2>"


def _head(models: Sequence[str], frame: pd.DataFrame, settings: ReportSettings, say: Say) -> str:
    text = say(
        N_(
            "{models} models on {n} sentences. Positive values lean towards the male word, negative values towards"
            " the female word."
        )
    )
    counts = {"models": len(models), "n": f"{frame.groupby(['row', 'sentence']).ngroups:,}"}
    lead = say(
        N_(
            "Models are listed in the requested order. They are not ranked, because a smaller bias is not"
            " necessarily better."
        )
    )
    data = f"<p class=lead>{_e(settings.data)}</p>" if settings.data else ""
    title = say(N_("Models side by side"))
    return f"<h1>{_e(title)}</h1>{data}<p>{_e(text.format(**counts))} {_e(lead)}</p>"


def _figure(figure: Figure, number: int) -> str:
    svg = picture(figure.chart, "svg", width=WIDTH).decode()
    # Several pictures share one page, so an id like "clip0" must be unique to one of them.
    for name in sorted(set(re.findall(r'\bid="([^"]+)"', svg))):
        svg = svg.replace(f'id="{name}"', f'id="f{number}-{name}"').replace(f"url(#{name})", f"url(#f{number}-{name})")
    return (
        f"<figure><h2>{_e(figure.title)}</h2><div>{svg}</div>"
        f"<figcaption>{_e(figure.says)}<br>{_e(figure.note)}</figcaption></figure>"
    )


def _table(
    summaries: Sequence[Summary],
    asked: Asked,
    kept: pd.DataFrame,
    settings: ReportSettings,
    papers: Mapping[str, Paper],
    notes: Mapping[str, str],
    say: Say,
) -> str:
    corrected: dict[str, SideMeans] = {
        summary.model: side_means(
            kept.loc[kept["model"] == summary.model, "corrected_log10"].tolist(), denominator=settings.denominator
        )
        for summary in summaries
    }
    groups = table_lines(summaries, asked, corrected=corrected, papers=papers, say=say)
    corner = say(
        N_(
            "log10 unless stated otherwise; 95% intervals in brackets, valid for these word pairs"
            " only unless computed over stems"
        )
    )
    signatures = {summary.model: summary.signature for summary in summaries}
    return table_html(
        [summary.model for summary in summaries], groups, corner=corner, notes=notes, signatures=signatures
    )


def _together(
    summaries: Sequence[Summary], kept: pd.DataFrame, seeds: Groups, settings: ReportSettings, say: Say
) -> list[str]:
    """Return the parts for several models: their differences, and the means over the seeds of one."""
    parts = []
    if len(summaries) > 1:
        models = [summary.model for summary in summaries]
        how: dict[str, Any] = {"groups": seeds, "margins": settings.margins, "denominator": settings.denominator}
        parts += [
            _heading(say(N_("Pairwise differences between models"))),
            differences_html(kept, models, **how, say=say),
        ]
    if seeds:
        parts += [
            _heading(say(N_("Means over seeds"))),
            seeds_html({summary.model: summary for summary in summaries}, seeds, say),
        ]
    return parts


def _extremes(rows: pd.DataFrame, model: str, count: int, say: Say) -> str:
    parts = [f'<h3>{_e(model)}</h3><div class="two">']
    titles = {
        "female": "◀ " + say(N_("Strongest towards the female word")),
        "male": say(N_("Strongest towards the male word")) + " ▶",
    }
    for side in ("female", "male"):
        listed = extremes(rows, count, sign="male" if side == "male" else "female").to_dict("records")
        inside = list_html(listed, say=say) if listed else _e(say(N_("No sentence leans this way.")))
        parts.append(f'<div><div class="models-side {side[0]}">{_e(titles[side])}</div>{inside}</div>')
    return "".join(parts) + "</div>"


def _undefined(frame: pd.DataFrame, say: Say) -> str:
    without = frame[~frame["bias_log10"].abs().lt(float("inf"))]
    parts = [_heading(say(N_("Excluded sentences"))) + f"<p>{_e(say(UNDEFINED))}</p>"]
    if without.empty:
        nothing = say(N_("No sentence was excluded."))
        return f"{parts[0]}<p>{_e(nothing)}</p>"
    counts = without.assign(status=without["status"].where(without["bias_log10"].isna(), "infinite"))
    rows = counts.groupby(["model", "status"], sort=False).size().items()
    infinite = say(N_("infinite: one of the two words has probability 0"))
    for (model, status), count in rows:
        reason = infinite if status == "infinite" else translate_stored(str(status), say)
        parts.append(f"<p class=note>{_e(str(model))}: {count:,} × {_e(reason)}</p>")
    parts.append(list_html(without.head(LISTED).to_dict("records"), say=say))
    return "".join(parts)


def _method(say: Say) -> str:
    inner = "".join(f"<p><b>{_e(say(name))}</b> {_e(say(text))}</p>" for name, text in METHOD)
    return _heading(say(N_("How the values are computed"))) + inner


def _how_made(summaries: Sequence[Summary], frame: pd.DataFrame, settings: ReportSettings, say: Say) -> str:
    rows_hash = hashlib.sha256(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes()).hexdigest()
    mass = say(N_("none")) if settings.least_mass is None else f"{100 * settings.least_mass:g}%"
    facts = [
        (say(N_("Scores")), settings.data or "—"),
        (say(N_("SHA-256 of the file")), settings.digest or "—"),
        (say(N_("Hash of the rows used")), rows_hash),
        (say(N_("Denominator of the means")), settings.denominator),
        (say(N_("Minimum pair mass")), mass),
        (say(N_("Threshold for obvious bias")), f"{OBVIOUS} (log10)"),
        (say(N_("Created")), f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
        ("Evenhand", f"{VERSION}; " + ", ".join(f"{name} {version(name)}" for name in PACKAGES)),
    ]
    facts += [(summary.model, f"{summary.signature}; {summary.intervals}") for summary in summaries]
    inner = "".join(f"<dt>{_e(name)}</dt><dd><code>{_e(value)}</code></dd>" for name, value in facts)
    return _heading(say(N_("Signatures, settings, versions"))) + f'<dl class="facts">{inner}</dl>'
