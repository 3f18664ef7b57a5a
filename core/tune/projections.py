"""A run that takes a direction out of a model: sentences and counterfactuals in, a changed folder with its probes
out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from evenhand.core.errors import Refused
from evenhand.core.models.catalogue import locate
from evenhand.core.runs.loop import Laps
from evenhand.core.swap.swapping import Swapper
from evenhand.core.swap.word_tables import WordTable
from evenhand.core.tune.card import licence_of
from evenhand.core.tune.report import Base, ProjectionReport, SwapFacts
from evenhand.core.tune.run import TAKEN, write_model
from evenhand.core.tune.texts import TrainingTexts
from evenhand.core.typed_json import to_json

Method = Literal["sentence-debias", "inlp"]
MOST = 2000  # sentences on either side; more move the directions little


def project(
    model: str, texts: TrainingTexts, words: WordTable, folder: Path, method: Method, *, length: int = 128,
    device: str = "auto",
) -> ProjectionReport:  # fmt: skip
    """Take the directions of *method* out of *model*, found in *texts* and their counterfactuals; write *folder*.

    Texts whose words are of one side only count, each with its counterfactual. Raises Refused where the folder is there
    or texts are few, ModelUnavailable as loading does.
    """
    if folder.exists():
        raise Refused(TAKEN, folder=folder.name)
    base, lap = locate(model), Laps()
    from evenhand.core.models.tuning.projection import (
        apply_projection,
        inlp,
        refuse_few,
        sentence_debias,
        sentence_vectors,
    )
    from evenhand.core.models.tuning.training import Changeable

    changed = Changeable(model, device=device)
    untouched = changed.rows(texts.untouched, length)
    before = changed.held_out(untouched)
    pairs = sides(texts.trained, words)
    refuse_few(len(pairs))
    male, female = (
        sentence_vectors(changed.model, changed.tokenizer, [pair[side] for pair in pairs], length) for side in (0, 1)
    )
    found = sentence_debias(male, female) if method == "sentence-debias" else inlp(male, female, changed.task)
    apply_projection(model, changed.model, found.matrix)
    after = changed.held_out(untouched)
    report = ProjectionReport(
        name=folder.name, folder=folder, base=Base(model, changed.before.weights, licence_of(base)),
        source=replace(texts.facts, swap=SwapFacts(language=words.language)), method=method,
        method_text=_text(method, found.directions, len(pairs)), directions=found.directions, pairs=len(pairs),
        probe={"before": to_json(found.before), "after": to_json(found.after)},
        held_out={"before": before, "after": after}, seconds=round(lap(), 3),
    )  # fmt: skip
    write_model(report, changed.save)
    return report


def sides(texts: Sequence[str], words: WordTable) -> list[tuple[str, str]]:
    """(male, female) versions of each text whose words are of one side only."""
    swapper, found = Swapper(words), []
    for text in texts:
        one = swapper(text)
        there = {words.side(change.word) for change in one.changes}
        if one.outcome == "swapped" and len(there) == 1:
            found.append((text, one.text) if there == {"male"} else (one.text, text))
        if len(found) == MOST:
            break
    return found


def _text(method: Method, directions: int, pairs: int) -> str:
    name = "SentenceDebias" if method == "sentence-debias" else "INLP"
    found = f"found in {pairs:,} sentences and their counterfactuals"
    return f"{name}: {directions} directions, {found}, projected away before the head"
