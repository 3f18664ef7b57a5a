"""Several seeds of a model are one unit: which models of a file are, and what they give together (SPEC 9.1).

Whoever counts models (two models of which correlate, how many lean) counts a model once, however often it was trained.
Nothing is grouped in silence: whoever uses a grouping shows it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.model_bias.means import BOUNDS, MEASURES
from evenhand.core.model_bias.summary import Summary
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import ACROSS_SEEDS
from evenhand.core.statistics.intervals import Bounds
from evenhand.core.statistics.resampling import Numbers

SEED = re.compile(r"^(?P<model>.*\w)[-_. ](?:seed|s|run)[-_=]?\d+$", re.IGNORECASE)
LEAST_SEEDS = 3  # SPEC 9.1

GROUPED = N_("Seeds of one model, counted as one: {groups}.")
FEW_SEEDS = Note(N_("Fewer than three seeds: no interval over seeds."))
NOT_ALL = Note(N_("A seed has no value for this measure."))
TAKEN = N_("{model} is in two groups of seeds.")
NO_MODEL = N_("These scores do not contain the model {model}. Available: {models}.")
UNREAD = N_("{text} is not a group of seeds. Write NAME=MODEL,MODEL.")

Groups = dict[str, tuple[str, ...]]


def seed_groups(
    models: Sequence[str], named: Mapping[str, Sequence[str]] | None = None, *, by_name: bool = True
) -> Groups:
    """Which of *models* are seeds of one, by the name of that: *named* ones, and with *by_name* those that say it.

    A name says it by ending in a seed, as bert-seed1, bert_s2, bert-run3 do, where at least two models share what
    stands before it. Raises NotFound for a model that is not there, BadFile for one that is named twice.
    """
    groups: Groups = {name: tuple(seeds) for name, seeds in (named or {}).items()}
    taken = [seed for seeds in groups.values() for seed in seeds]
    for model in taken:
        if model not in models:
            raise NotFound(NO_MODEL, model=model, models=", ".join(models))
        if taken.count(model) > 1:
            raise BadFile(TAKEN, model=model)
    found: dict[str, list[str]] = {}
    for model in models if by_name else ():
        if model not in taken and (parts := SEED.match(model)):
            found.setdefault(parts["model"], []).append(model)
    return groups | {name: tuple(seeds) for name, seeds in found.items() if len(seeds) > 1 and name not in groups}


def read_groups(texts: Sequence[str]) -> Groups:
    """Groups of seeds as a user writes them: NAME=MODEL,MODEL. Raises BadFile for anything else."""
    groups: Groups = {}
    for text in texts:
        name, _, seeds = text.partition("=")
        models = tuple(part.strip() for part in seeds.split(",") if part.strip())
        if not name.strip() or len(models) < 2:
            raise BadFile(UNREAD, text=text)
        groups[name.strip()] = models
    return groups


def written_groups(groups: Groups) -> list[str]:
    """Groups as a user writes them, the reverse of `read_groups`."""
    return [f"{name}={','.join(seeds)}" for name, seeds in groups.items()]


def grouping(groups: Groups) -> Note:
    """The sentence that shows a grouping."""
    return Note(GROUPED, {"groups": "; ".join(f"{name} ({', '.join(seeds)})" for name, seeds in groups.items())})


def unit_of(model: str, groups: Groups) -> str:
    """The model that a model counts as: the name of its group, or itself."""
    return next((name for name, seeds in groups.items() if model in seeds), model)


def over_seeds(summaries: Sequence[Summary]) -> dict[str, Estimate]:
    """Each measure of a model as the mean over its seeds, with a t interval over these (log10; side AUC 0 to 1).

    It says how much training anew changes the measure; word pairs and sentences are taken as they are.
    """
    found = {}
    for name in (*MEASURES, "side_auc"):
        values = [getattr(one, name).value for one in summaries]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or not known:
            found[name] = Estimate.undefined(NOT_ALL, len(values))
            continue
        mean = Estimate(float(np.mean(known)), units=len(known))
        found[name] = _with_t(mean, np.asarray(known), BOUNDS.get(name, (-np.inf, np.inf)))
    return found


def _with_t(mean: Estimate, values: Numbers, bounds: Bounds) -> Estimate:
    from scipy import stats  # scipy.stats takes a while to import

    if len(values) < LEAST_SEEDS or mean.value is None:
        return replace(mean, note=FEW_SEEDS)
    se, df = float(values.std(ddof=1) / np.sqrt(len(values))), len(values) - 1
    reach = float(stats.t.ppf(0.975, df)) * se
    low, high = max(bounds[0], mean.value - reach), min(bounds[1], mean.value + reach)
    return replace(mean, low=low, high=high, se=se, df=df, method=ACROSS_SEEDS)
