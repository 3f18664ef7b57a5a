"""proof.html of a release: one offline file that recomputes its numbers in the reader's browser.

It holds no number of a release: the reader chooses the folder, and its own JavaScript (static/*.js) makes the checks of
`checks.CHECKS`. Both languages are in the file. Its policy allows this script only, and no connection.
"""

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.annotations.agreement.measures import VERSION as METHOD
from evenhand.annotations.labels.blind_labels import BLIND
from evenhand.annotations.release.proof.checks import CHECKS, REASONS
from evenhand.core.charts.palette import css_variables
from evenhand.core.errors import N_
from evenhand.core.language import LANGUAGES, translate
from evenhand.core.version import VERSION

FOLDER = Path(__file__).parent
SCRIPTS = ("read", "hashes", "gold", "agreement", "checks", "page")  # in the order in which they need each other
TEXTS = {
    "title": N_("Check a release"),
    "purpose": N_(
        "This page computes the numbers of a release again from its files: sums, the hash of the contents, gold"
        " labels, agreement and counts. Each check is equal, different or not checkable."
    ),
    "choose": N_("Choose the folder of the release"),
    "or_drop": N_("or drop it here; unpack a .zip first"),
    "neighbours": N_("A page opened from a folder cannot read the files next to it, so you choose them."),
    "nothing_sent": N_("Nothing is sent anywhere: the policy of this page forbids every connection."),
    "no_script": N_("This page needs JavaScript."),
    "trust": N_(
        "Users who change files can change this page too. If you do not trust its source, take proof.html from another"
        " release of the same version of Evenhand, or run `release --verify`."
    ),
    "made": N_("Made with Evenhand {version}."),
    "equal": N_("equal"),
    "different": N_("different"),
    "unchecked": N_("not checkable"),
    "expected": N_("stated"),
    "found": N_("recomputed"),
    "which": N_("file or item"),
    "because": N_("Not checkable: "),
    "differences": N_("Differences: {number}"),
    "working": N_("Computing {name}"),
    "holds": N_("No difference: {equal} checks are equal, {left} are not checkable"),
    "fails": N_("Different: {different} checks ({equal} are equal, {left} are not checkable)"),
    "no_release": N_("This folder holds no release: release.json or SHA256SUMS is missing or does not match."),
    "no_crypto": N_("This browser computes no SHA-256 on this page. Open proof.html from a folder."),
    "broken": N_("The release cannot be read."),
}


@cache
def proof_page() -> str:
    """Return the page as text; it depends on the version of Evenhand only."""
    texts = {key: _both(text) for key, text in TEXTS.items()}
    texts["made"] = {language: text.format(version=VERSION) for language, text in texts["made"].items()}
    script = _script(texts)
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"), undefined=StrictUndefined, autoescape=True, trim_blocks=True
    )
    page = environment.get_template("proof.html.jinja").render(
        texts=texts,
        colours=f":root{{color-scheme:light dark;{css_variables(dark=True)}}}",
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return page.lstrip() + "\n"


def _script(texts: dict[str, dict[str, str]]) -> str:
    """Return the JavaScript of the page with its texts, in a scope of its own."""
    rules: dict[str, Any] = {
        "checks": [
            {
                "id": check.id,
                "name": _both(check.name),
                "population": _both(check.population, labels=BLIND),
                "document": check.document,
                "place": check.place,
            }
            for check in CHECKS
        ],
        "reasons": {code: _both(reason) for code, reason in REASONS.items()},
        "texts": texts,
        "method": METHOD,
    }
    parts = [(FOLDER / "static" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    written = json.dumps(rules, ensure_ascii=False).replace("<", "\\u003c")
    return "\n".join(['"use strict";', f"{{\nconst RULES = {written};", *parts, "}"])


def _both(text: str, **values: str) -> dict[str, str]:
    """Return a text in both languages, with its places filled by *values* in the same language."""
    both: dict[str, str] = {}
    for language in sorted(LANGUAGES):
        filled = {key: translate(value, language) for key, value in values.items()}
        both[language] = translate(text, language).format(**filled) if text and values else translate(text, language)
    return both
