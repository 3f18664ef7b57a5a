"""Measures of pairs of sentences: StereoSet, CrowS-Pairs with variants, and AUL.

Sources: Nadeem et al. 2021 (StereoSet), Nangia et al. 2020 (CrowS-Pairs as published), Kaneko and Bollegala 2022 (AUL);
see docs/other_measures.md#crows-pairs-and-aul.

StereoSet, from the scores of sentences. lms: mean over target terms of 100 x the share of comparisons in which a
meaningful sentence (stereotype or anti-stereotype) beats the unrelated one. ss: mean over target terms of 100 x the
share of items whose stereotype beats the anti-stereotype. icat = lms x min(ss, 100 - ss) / 50.

CrowS-Pairs: the share of pairs whose more stereotyping sentence scores higher. A score is, by variant: published: the
sum of ln p over the tokens that both sentences share, each masked in turn; changed: the same over the tokens that
differ; mean: the mean over the shared tokens; aul: the mean over all tokens with nothing masked. Scores are rounded to
3 decimals; a tie counts in the denominator and for neither sentence.
"""

import csv
import json
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.other_measures.measured_values import percent
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.statistics.posterior import share_of_rows

SENTENCES = ("stereotype", "anti-stereotype", "unrelated")
BLANK = "BLANK"
PUNCTUATION = str.maketrans("", "", string.punctuation)
UNREADABLE = N_("{file} cannot be read: {why}.")
NO_JSON = N_("{file} is not a JSON file.")
NO_ITEMS = N_("{file} contains no StereoSet items: each needs a target and three sentences with their ids.")
NO_SCORES = N_(
    "{file} contains no scores: it must be a JSON object of sentence ids and numbers, or one such object per model."
)
MISSING = N_("{file} has no score for {count} of {all} sentences, such as {example}.")


@dataclass(frozen=True, slots=True)
class Item:
    """A target term and the ids of its three sentences, in the order of `SENTENCES`.

    `context` has BLANK where the sentences differ. `sentences` are the full texts, `words` the texts in place of BLANK;
    "" in files without them.
    """

    target: str
    ids: tuple[str, str, str]
    context: str = ""
    sentences: tuple[str, str, str] = ("", "", "")

    @property
    def words(self) -> tuple[str, str, str]:
        """The word in the blank of each sentence, without punctuation, as the published code takes it."""
        first, second, third = (word_in(self.context, sentence) for sentence in self.sentences)
        return first, second, third


@dataclass(frozen=True, slots=True)
class StereoSet:
    """The three scores, 0 to 100, over how many items and terms."""

    lms: float
    ss: float
    icat: float
    items: int
    terms: int


def read_items(path: Path) -> list[Item]:
    """Read the intrasentence items of a file: StereoSet itself, or a list of such items. Raises BadFile."""
    given = _json(path)
    if isinstance(given, dict):
        data = given.get("data", given)
        given = data.get("intrasentence") if isinstance(data, dict) else None
    try:
        items = [_item(entry) for entry in given or []]
    except (KeyError, TypeError, AttributeError):
        items = []
    if not items:
        raise BadFile(NO_ITEMS, file=path.name)
    return items


def _item(one: Mapping[str, Any]) -> Item:
    if "sentences" in one:  # as StereoSet is released
        given = {sentence["gold_label"]: sentence for sentence in one["sentences"]}
    else:
        given = one["data"]
    first, second, third = (str(given[label]["id"]) for label in SENTENCES)
    texts = tuple(str(given[label].get("sentence", "")) for label in SENTENCES)
    return Item(str(one["target"]), (first, second, third), str(one.get("context", "")), (texts[0], texts[1], texts[2]))


def word_in(context: str, sentence: str) -> str:
    """Return the text of *sentence* at the BLANK of *context*: the word of the same number, else the text between the
    parts of *context* before and after BLANK.
    """
    words = sentence.split(" ")
    place = next((i for i, word in enumerate(context.split(" ")) if BLANK in word), None)
    if len(context.split(" ")) > 1 and place is not None and place < len(words):
        return words[place].translate(PUNCTUATION)
    before, _, after = context.partition(BLANK)
    inside = sentence.removeprefix(before)
    return inside.removesuffix(after) if after else inside


def read_item_scores(path: Path) -> dict[str, dict[str, float]]:
    """Read scores of sentences by model. Raises BadFile.

    The file has one object of ids and numbers (the model is ""), several objects by name, or a list of id and score as
    in StereoSet's predictions.
    """
    given = _json(path)
    if isinstance(given, dict) and isinstance(given.get("intrasentence"), list):
        given = given["intrasentence"]
    try:
        if isinstance(given, list):
            return {"": {str(entry["id"]): float(entry["score"]) for entry in given}}
        if isinstance(given, dict) and given and all(isinstance(entry, dict) for entry in given.values()):
            return {str(model): {str(i): float(score) for i, score in entry.items()} for model, entry in given.items()}
        if isinstance(given, dict) and given:
            return {"": {str(i): float(score) for i, score in given.items()}}
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    raise BadFile(NO_SCORES, file=path.name)


def stereoset(items: Sequence[Item], scores: Mapping[str, float], file: str = "") -> StereoSet:
    """Return the three scores. Raises BadFile where a sentence has no score."""
    wanted = [i for item in items for i in item.ids]
    if missing := [i for i in wanted if i not in scores]:
        raise BadFile(MISSING, file=file, count=len(missing), all=len(wanted), example=missing[0])
    lms, ss = zip(*by_term(items, scores).values(), strict=True)
    lms_mean, ss_mean = sum(lms) / len(lms), sum(ss) / len(ss)
    return StereoSet(lms_mean, ss_mean, lms_mean * min(ss_mean, 100 - ss_mean) / 50, len(items), len(lms))


def by_term(items: Sequence[Item], scores: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return lms and ss of each target term, 0 to 100."""
    terms: dict[str, list[Item]] = {}
    for item in items:
        terms.setdefault(item.target, []).append(item)
    result = {}
    for term, some in terms.items():
        values = [[scores[i] for i in item.ids] for item in some]
        meaningful = [value > unrelated for stereo, anti, unrelated in values for value in (stereo, anti)]
        ss = 100 * sum(stereo > anti for stereo, anti, _ in values) / len(values)
        result[term] = (100 * sum(meaningful) / len(meaningful), ss)
    return result


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    except (ValueError, RecursionError):
        raise BadFile(NO_JSON, file=path.name) from None


if TYPE_CHECKING:  # a page reads files and variants; torch stays out of it
    from evenhand.core.models.measure_readers import SentenceTokens

Variant = Literal["published", "changed", "mean", "aul"]
VARIANTS: tuple[Variant, ...] = ("published", "changed", "mean", "aul")
COLUMNS = ("sent_more", "sent_less")
WRITER = "anon_writer"
WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+(?:['’-]\w+)*")
DECIMALS = 3
METHODS = {
    "published": "crows-pairs", "changed": "crows-pairs-changed", "mean": "crows-pairs-mean", "aul": "aul",
}  # fmt: skip
# What is known against each, in one sentence with its source.
CRITICISM = N_(
    "Many pairs are flawed: they mix stereotypes with spelling, names or nonsense (Blodgett et al. 2021)."
    " With 262 gender pairs, the share is uncertain by about 6 percentage points."
)
NO_COLUMNS = N_("{file} is not a CrowS-Pairs file: it lacks the columns sent_more and sent_less.")
NO_ROWS = N_("{file} has no pair of the kind {bias}.")
NOTHING = Note(N_("This model cannot score any pair."))


@dataclass(frozen=True, slots=True)
class CrowsPairs:
    """The measure of a model: `score` 0 to 100 with its interval, pairs, ties, pairs left out as too long."""

    variant: Variant
    share: Estimate
    pairs: int
    ties: int
    left_out: int
    signature: str

    @property
    def score(self) -> Estimate:
        """The share of pairs as published, in percent; undefined where no pair could be read."""
        return percent(self.share)

    def to_json(self) -> dict[str, object]:
        """Return the measure for `--json`."""
        score = self.score
        return {
            "score": score.value, **score.reason_of("score"), "low": score.low, "high": score.high, "pairs": self.pairs,
            "ties": self.ties, "left_out": self.left_out, "variant": self.variant, "signature": self.signature,
        }  # fmt: skip


def read_crows(path: Path, bias: str | None = None) -> list[tuple[str, str]]:
    """Read the pairs of a file, the more stereotyping sentence first; of one *bias_type* if given. Raises BadFile."""
    return [(row["sent_more"] or "", row["sent_less"] or "") for row in _crows_rows(path, bias)]


def read_writers(path: Path, bias: str | None = None) -> list[str]:
    """Return the writer of each of these pairs (`anon_writer`); "" where the file has none. Raises BadFile."""
    return [row.get(WRITER) or "" for row in _crows_rows(path, bias)]


def _crows_rows(path: Path, bias: str | None) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    except (UnicodeDecodeError, csv.Error):
        rows = []
    if not rows or not set(COLUMNS) <= set(rows[0]):
        raise BadFile(NO_COLUMNS, file=path.name)
    crows_rows = [row for row in rows if bias is None or row.get("bias_type") == bias]
    if not crows_rows:
        raise Refused(NO_ROWS, file=path.name, bias=bias or "")
    return crows_rows


def sentence_score(tokens: "SentenceTokens", variant: Variant) -> float:
    """Return the score of a sentence, rounded as published; 0 without a token that counts."""
    terms = {"published": tokens.shared, "changed": tokens.changed, "mean": tokens.shared, "aul": tokens.unmasked}[
        variant
    ]
    total = sum(terms)
    return round(total / len(terms) if variant in ("mean", "aul") and terms else total, DECIMALS)


def word_pair(more: str, less: str) -> str:
    """Return the first words in which two sentences differ, in lower case and sorted, as in "he/she".

    A Chinese character is a word. Sentences that differ in punctuation alone have the pair "/".
    """
    words, others = (WORD.findall(text.lower()) for text in (more, less))
    changes = SequenceMatcher(a=words, b=others, autojunk=False).get_opcodes()
    first = next(((words[i:j], others[k:m]) for kind, i, j, k, m in changes if kind != "equal"), ([], []))
    return "/".join(sorted(span[0] if span else "" for span in first))


def crows_pairs(
    sentences: Sequence[tuple[str, str]], read: "Sequence[tuple[SentenceTokens, SentenceTokens] | None]",
    variant: Variant, signature: str, writers: Sequence[str] = (),
) -> CrowsPairs:  # fmt: skip
    """Return the measure of *sentences* from a model's answer to each pair (`SentencePairReader.read`).

    The interval is over the words in which the pairs differ where the score is of these (changed, aul), else over
    *writers*, "" for a pair without; without any it is Wilson's.
    """
    units = [word_pair(more, less) for more, less in sentences] if variant in ("changed", "aul") else writers
    known = [
        (sentence_score(more, variant), sentence_score(less, variant)) for more, less in (row for row in read if row)
    ]
    higher, ties = sum(more > less for more, less in known), sum(more == less for more, less in known)
    share = wilson(higher, len(known), nothing=NOTHING)
    if any(units):
        known_units = [unit for unit, row in zip(units, read, strict=True) if row]
        share = share_of_rows([more > less for more, less in known], known_units, nothing=NOTHING)
    return CrowsPairs(variant, share, len(known), ties, len(read) - len(known), signature)
