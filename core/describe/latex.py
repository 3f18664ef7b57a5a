"""A description as two small LaTeX tables (booktabs): facts of the set, and sentences per pair."""

from evenhand.core.describe.description import Description

_ESCAPED = {
    "\\": r"\textbackslash{}",
    **{one: f"\\{one}" for one in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def escaped(text: str) -> str:
    """*text* escaped for LaTeX; line breaks become blanks."""
    return "".join(_ESCAPED.get(one, " " if one.isspace() else one) for one in text)


def as_latex(found: Description) -> str:
    """Both tables; Chinese needs XeLaTeX or LuaLaTeX with a font that has it. Undefined values are dashes."""
    return f"% {found.signature}\n% needs \\usepackage{{booktabs}}\n{_facts(found)}\n{_pairs(found)}"


def _facts(found: Description) -> str:
    size, cover = found.lengths, found.coverage
    rows = [
        ("Sentences" if found.kind == "sentences" else "Generations", f"{found.sentences:,}"),
        ("Characters", f"{found.characters.total:,}"),
        ("Distinct characters", f"{found.characters.distinct:,}"),
        ("Length (min / median / mean / max)", _lengths(size.least, size.median, size.mean, size.most)),
        ("Duplicate texts", f"{found.exact.surplus:,}"),
    ]
    if cover is not None:
        rows.append(
            (
                "Distinct characters, relative to the vocabulary of"
                f" {cover.vocabulary.name} ({cover.vocabulary.size:,})",
                f"{100 * cover.published:.2f}%",
            )
        )
    lines = "\n".join(f"{escaped(name)} & {escaped(value)} \\\\" for name, value in rows)
    return f"\\begin{{tabular}}{{lr}}\n\\toprule\n{lines}\n\\bottomrule\n\\end{{tabular}}\n"


def _lengths(least: int | None, median: float | None, mean: float | None, most: int | None) -> str:
    if least is None or median is None or mean is None:
        return "—"
    return f"{least} / {median:g} / {mean:.2f} / {most}"


def _pairs(found: Description) -> str:
    if not found.balances:
        return ""
    rows = [
        f"{escaped(one.pair)} & {one.male:,} & {one.female:,} & {one.male + one.female:,} & "
        + (
            "—"
            if one.share.value is None
            else f"{100 * one.share.value:.1f}"
            if one.share.low is None or one.share.high is None
            else f"{100 * one.share.value:.1f} [{100 * one.share.low:.1f}, {100 * one.share.high:.1f}]"
        )
        + " \\\\"
        for one in found.balances
    ]
    male, female = (sum(getattr(one, side) for one in found.balances) for side in ("male", "female"))
    total = f"Sum & {male:,} & {female:,} & {male + female:,} & \\\\"
    head = r"Pair & male word & female word & both & \% male [95 \%] \\"
    body = "\n".join([head, r"\midrule", *rows, r"\midrule", total])
    return f"\\begin{{tabular}}{{lrrrr}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
