"""Names of accounts: what counts as the same name, and which names could pass for another one."""

import unicodedata

from evenhand.annotations.projects.annotators import checked_name
from evenhand.core.errors import N_, Refused

# Scripts that are written together (the level "highly restrictive" of Unicode's UTS 39), by the first word of the names
# of their characters.
TOGETHER = (
    {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "BOPOMOFO"},
    {"LATIN", "CJK", "IDEOGRAPHIC", "HANGUL"},
)
SHARED = {"MODIFIER", "KATAKANA-HIRAGANA", "MASCULINE", "FEMININE"}  # letters of no script
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5"  # letters and marks that are invisible
SHOWN = {"CJK": "Han", "IDEOGRAPHIC": "Han"}
MIXED = N_(
    "The name {name} mixes scripts ({scripts}), so it could be mistaken for another name. Use letters of one script;"
    " Chinese, Japanese and Korean names may also have Latin letters."
)

INVISIBLE = N_("Enter a name with characters that can be seen.")


def name_key(name: str) -> str:
    """Return what names that count as the same share: no width, case, invisible characters or extra blanks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(sign for sign in folded if not _is_invisible(sign)).split())


def account_name(name: str) -> str:
    """Return *name* as it is stored. Raises Refused as `checked_name` does, and for letters of several scripts."""
    bare = checked_name(unicodedata.normalize("NFKC", name))
    scripts = {_script(sign) for sign in bare} - SHARED - {""}
    if len(scripts) > 1 and not any(scripts <= together for together in TOGETHER):
        listed = sorted({SHOWN.get(script, script.capitalize()) for script in scripts})
        raise Refused(MIXED, name=bare, scripts=", ".join(listed))
    if not name_key(bare):
        raise Refused(INVISIBLE)
    return bare


def _script(sign: str) -> str:
    return unicodedata.name(sign, "").partition(" ")[0] if unicodedata.category(sign)[0] == "L" else ""


def _is_invisible(sign: str) -> bool:
    return sign in FILLERS or unicodedata.category(sign) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(sign, "")
