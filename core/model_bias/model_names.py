"""Names of the models of a score file, so that numbers of different methods never share a name or an axis."""

import pandas as pd

PRECISION = 4  # the part of a signature that may differ inside one run: older runs in bf16 hold some rows of fp32
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
    parts = [str(signature).split("|") for signature in kinds["signature"]]
    return {(part[0], part[3]) for part in parts if len(part) > PRECISION}


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
        parts = [str(signature).split("|") for signature in group["signature"]]
        if len({len(part) for part in parts}) > 1:
            varying = list(range(max(map(len, parts))))
        else:
            varying = [i for i in range(len(parts[0])) if i != PRECISION and len({part[i] for part in parts}) > 1]
        if not varying:
            continue
        for signature, part in zip(group["signature"], parts, strict=True):
            shown = ", ".join(part[i] for i in varying if i < len(part))
            found = found.mask((frame["model"] == model) & (frame["signature"] == signature), f"{model} ({shown})")
    return found
