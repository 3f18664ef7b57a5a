"""The model card of a tuned model: what it comes from, what changed it, and what it cost; every figure from the
record."""

import json
import re
from pathlib import Path
from typing import Any

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


def card(record: dict[str, Any]) -> str:
    """The card for the hub, with its header, in English."""
    base, texts, swap = record["base"], record["source"], record["source"]["swap"]
    licence = base["licence"]
    head = {"license": licence or UNKNOWN, "base_model": base["name"], "tags": ["evenhand", "gender-bias"]}
    lines = ["---", *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()), "---", ""]
    what = f"{base['name']} ({base['weights'][:8]}), changed by Evenhand: {record['method_text']}."
    lines += [f"# {record['name']}", "", what, ""]
    licence_text = f"Licence of the base: {licence}." if licence else "The base states no licence; ask its authors."
    lines += [licence_text, "", "## Data", ""]
    if texts.get("trained"):
        lines += [f"{texts['trained']:,} texts of {texts['name']} (SHA-256 of all texts {texts['sha256'][:16]}), "
                  f"{texts['untouched']:,} others held out.", ""]  # fmt: skip
    if swap["mode"] != "none":
        lines += [f"Swapped ({swap['mode']}): {swap['swapped']:,} texts with such a word, {swap['refused']:,} refused.",
                  f"Pairs: {', '.join(swap['pairs'])}.", ""]  # fmt: skip
    lines += ["## How", "", f"`{record['tuning']['signature']}`", ""] if record.get("tuning") else []
    before, after = (record["held_out"].get(time) for time in ("before", "after"))
    if before and after:
        lines += ["## Held-out text", "", "| | before | after |", "|---|---|---|",
                  f"| loss (-ln p of a token) | {before['loss']:.4f} | {after['loss']:.4f} |",
                  f"| top-1 accuracy | {before['accuracy']:.2%} | {after['accuracy']:.2%} |",
                  f"| tokens | {before['tokens']:,} | {after['tokens']:,} |", ""]  # fmt: skip
    lines += ["A change that lowers a measure of bias may also have made the model worse: compare both, with a placebo",
              "and several seeds (docs/before_after.md of Evenhand).", ""]  # fmt: skip
    return "\n".join(lines)
