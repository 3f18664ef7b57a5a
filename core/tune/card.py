"""The model card of a tuned model: what it comes from, what changed it, and what it cost; every figure from the
record."""

import json
import re
from pathlib import Path

from evenhand.core.tune.report import TrainingReport, TuneReport

UNKNOWN = "other"
LICENCE = re.compile(r"^license:\s*(\S+)\s*$", re.MULTILINE)


def licence_of(folder: Path) -> str | None:
    """The licence that the card of a model's folder states; None where it states none."""
    card = folder / "README.md"
    head = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    if not head.startswith("---\n"):
        return None
    found = LICENCE.search(head.partition("\n---\n")[0])
    return found[1] if found else None


def card(report: TuneReport) -> str:
    """The card for the hub, with its header, in English."""
    base, texts, swap = report.base, report.source, report.source.swap
    head = {"license": base.licence or UNKNOWN, "base_model": base.name, "tags": ["evenhand", "gender-bias"]}
    lines = ["---", *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()), "---", ""]
    what = f"{base.name} ({base.weights[:8]}), changed by Evenhand: {report.method_text}."
    lines += [f"# {report.name}", "", what, ""]
    licence = (
        f"Licence of the base: {base.licence}." if base.licence else "The base states no licence; ask its authors."
    )
    lines += [licence, "", "## Data", ""]
    lines += [f"{texts.trained:,} texts of {texts.name} (SHA-256 of all texts {texts.sha256[:16]}), "
              f"{texts.untouched:,} others held out.", ""]  # fmt: skip
    if swap.mode != "none":
        lines += [f"Swapped ({swap.mode}): {swap.swapped:,} texts with such a word, {swap.refused:,} refused.",
                  f"Pairs: {', '.join(swap.pairs)}.", ""]  # fmt: skip
    lines += ["## How", "", f"`{report.tuning.signature}`", ""] if isinstance(report, TrainingReport) else []
    before, after = report.held_out["before"], report.held_out["after"]
    lines += ["## Held-out text", "", "| | before | after |", "|---|---|---|",
              f"| loss (-ln p of a token) | {before.loss:.4f} | {after.loss:.4f} |",
              f"| top-1 accuracy | {before.accuracy:.2%} | {after.accuracy:.2%} |",
              f"| tokens | {before.tokens:,} | {after.tokens:,} |", ""]  # fmt: skip
    lines += ["A change that lowers a measure of bias may also have made the model worse: compare both, with a placebo",
              "and several seeds (docs/before_after.md of Evenhand).", ""]  # fmt: skip
    return "\n".join(lines)
