"""Names of the models of a score file, so that numbers of different methods never share a name or an axis."""

import pandas as pd

from evenhand.core.types import Signature

USUAL = ("", "masked", "independent", "sum")  # what needs no word beside a name


def labels(frame: pd.DataFrame) -> pd.Series:
    """The model of each row as it is shown.

    One name with several ways of scoring becomes several models, named by the parts of the signature that differ.
    Where the models of a file were scored by different methods or joined differently, those that were not scored by
    masking, each character by itself, say how: gpt2 (pair-sum).
    """
    found = _unlike_ways(frame)
    kinds = pd.DataFrame({"model": found, "signature": frame["signature"]}).drop_duplicates()
    ways = {
        label: _scoring_methods(group) for label, group in kinds[kinds["signature"] != ""].groupby("model", sort=False)
    }
    if len(set().union(*ways.values())) < 2:
        return found
    said = {label: ", ".join(w for w in sorted(way)[0] if w not in USUAL) for label, way in ways.items() if way}
    names = {label: f"{label} ({word})" for label, word in said.items() if word and word not in str(label)}
    return found.replace(names) if names else found


def _scoring_methods(kinds: pd.DataFrame) -> set[tuple[str, str]]:
    """How a model was asked: (method, joining), of signatures that say so."""
    parts = [Signature.parse(str(text)) for text in kinds["signature"]]
    return {(part.method, part.joint) for part in parts if part is not None}


def plain_names(frame: pd.DataFrame) -> dict[str, str]:
    """Each model of a frame that was read, and its name in the file; the label itself where several share that name."""
    pairs = frame[["model", "named"]].drop_duplicates()
    single = ~pairs["named"].duplicated(keep=False)
    return {
        str(label): str(name if alone else label)
        for label, name, alone in zip(pairs["model"], pairs["named"], single, strict=True)
    }


def _unlike_ways(frame: pd.DataFrame) -> pd.Series:
    """The model of each row; one name with several ways of scoring becomes several models."""
    found = frame["model"].copy()
    kinds = frame[["model", "signature"]].drop_duplicates()
    for model, group in kinds[kinds["signature"] != ""].groupby("model", sort=False):
        parts = [_parts_of(str(signature)) for signature in group["signature"]]
        differing = [at for at, values in enumerate(zip(*parts, strict=True)) if len(set(values)) > 1]
        if not differing:
            continue
        for signature, part in zip(group["signature"], parts, strict=True):
            shown = ", ".join(part[at] for at in differing if part[at])
            found = found.mask((frame["model"] == model) & (frame["signature"] == signature), f"{model} ({shown})")
    return found


def _parts_of(text: str) -> tuple[str, ...]:
    """Return what may differ between two ways of scoring; of a signature of another form the whole text.

    The precision is left out: older runs in bf16 hold some rows of fp32.
    """
    parts = Signature.parse(text)
    if parts is None:
        return (text, "", "", "", "")
    return (parts.method, parts.model, f"weights:{parts.weights}", parts.joint, f"v{parts.version}")
