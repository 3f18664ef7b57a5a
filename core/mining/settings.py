"""The settings of a mining run. Everything that can change a candidate is in the signature."""

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from types import NoneType
from typing import Any, Literal, get_args

from evenhand.core.errors import N_, BadFile
from evenhand.core.mining.types import LONGEST, MODES, SHORTEST, Code, Mode
from evenhand.core.resources import DATA, ROOT, keyword_pairs
from evenhand.core.types import JsonObject, KeywordPair

CODES: tuple[str, ...] = get_args(Code)
VERSION = 3  # of the method: reading, cleaning, finding, duplicates
WITHOUT_SPACES = ("zh", "ja", "yue", "lzh")  # languages that write no spaces between words

Quotes = Literal["delete", "complete"]


@dataclass(frozen=True, slots=True)
class Settings:
    """One run of mining.

    `pairs`: the words that are looked for. `modes`: filter code -> off, reject or
    flag; a code that is not named has its default. `pair_modes`: (pair name, code) ->
    mode, stronger than `modes`. `quotes`: what happens to a quotation mark whose
    partner was lost in the split. `convert`: "t2s" turns traditional into simplified
    text, the original is kept. `column`: the text column of tables, None = the
    longest. `shortest`, `longest`: characters that the length filter allows.
    `seed`: which rejected sentences are shown as examples. Raises BadFile where
    a filter, mode, pair or length is none.
    """

    pairs: tuple[KeywordPair, ...] = field(default_factory=lambda: keyword_pairs("table1"))
    modes: Mapping[str, Mode] = field(default_factory=dict)
    pair_modes: Mapping[tuple[str, str], Mode] = field(default_factory=dict)
    quotes: Quotes = "delete"
    convert: Literal["t2s"] | None = None
    column: str | None = None
    shortest: int = SHORTEST
    longest: int = LONGEST
    seed: int = 0

    def __post_init__(self) -> None:
        names = {pair.name for pair in self.pairs}
        if not names:
            raise BadFile(N_("No keyword pair is selected. Choose at least one."))
        if len({pair.language in WITHOUT_SPACES for pair in self.pairs}) > 1:
            message = N_("The pairs mix languages with and without spaces between words; mine them separately.")
            raise BadFile(message)
        for code, mode in [*self.modes.items(), *((code, mode) for (_, code), mode in self.pair_modes.items())]:
            if code not in CODES or mode not in MODES:
                message = N_(
                    "{code}={mode} is not a valid filter and mode. Filters: {filters}; modes: off, reject, flag."
                )
                raise BadFile(message, code=code, mode=mode, filters=", ".join(CODES))
        for pair, _code in self.pair_modes:
            if pair not in names:
                message = N_("{pair} is not a pair of this run. Pairs: {pairs}.")
                raise BadFile(message, pair=pair, pairs=", ".join(sorted(names)))
        if self.quotes not in get_args(Quotes) or self.convert not in (None, "t2s"):
            message = N_(
                "quotes must be delete or complete, and convert must be t2s or empty, not {quotes} and {convert}."
            )
            raise BadFile(message, quotes=self.quotes, convert=self.convert)
        if not 0 < self.shortest <= self.longest:
            message = N_("The sentence length cannot be {shortest} to {longest} characters.")
            raise BadFile(message, shortest=self.shortest, longest=self.longest)

    @property
    def spaced(self) -> bool:
        """True if the language writes spaces between words."""
        return self.pairs[0].language not in WITHOUT_SPACES

    def mode(self, pair: str, code: str) -> Mode:
        """Return the mode of the filter *code* for sentences of *pair*."""
        from evenhand.core.mining.filters import default_mode

        return self.pair_modes.get((pair, code)) or self.modes.get(code) or default_mode(code, pair)

    def all_modes(self) -> dict[str, dict[str, Mode]]:
        """Pair name -> filter code -> mode, defaults filled in, in the order of the filters."""
        return {pair.name: {code: self.mode(pair.name, code) for code in CODES} for pair in self.pairs}

    @property
    def finds_names(self) -> bool:
        """True if the filter of personal names is asked about Chinese sentences."""
        return any(pair.language == "zh" and self.mode(pair.name, "names") != "off" for pair in self.pairs)

    @property
    def signature(self) -> str:
        """Everything that can change the candidates, in a stable order; file names and workers cannot."""
        from evenhand.core.mining.filters import tagger

        pairs = [(pair.male, pair.female, pair.male_stem, pair.female_stem, pair.language) for pair in self.pairs]
        modes = sorted((pair, sorted(modes.items())) for pair, modes in self.all_modes().items())
        converter = f"{self.convert}-opencc-{version('opencc')}" if self.convert else "none"
        parts = [
            "mine",
            f"pairs:{len(pairs)}:{_digest(repr(pairs))}",
            f"modes:{_digest(repr(modes))}",
            f"quotes:{self.quotes}",
            f"convert:{converter}",
            f"column:{self.column or 'longest'}",
            f"length:{self.shortest}-{self.longest}",
            f"rules:{rules_hash()[:8]}",
            f"rjieba:{version('rjieba')}",
            f"names:{tagger.signature()}",
            f"v{VERSION}",
        ]
        return "|".join(parts)

    def to_json(self) -> JsonObject:
        """Return the settings as values of JSON; `from_json` reads them back."""
        result = {key: getattr(self, key) for key in ("quotes", "convert", "column", "shortest", "longest", "seed")}
        pair_modes = [{"pair": pair, "filter": code, "mode": mode} for (pair, code), mode in self.pair_modes.items()]
        pairs = [asdict(pair) for pair in self.pairs]
        return {"pairs": pairs, "modes": dict(self.modes), "pair_modes": pair_modes} | result

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Settings":
        """Return the settings that `to_json` wrote; names that are missing have their defaults.

        Raises TypeError, KeyError or ValueError for values of another kind, BadFile as `Settings`.
        """
        given = {key: _of_kind(value, _KINDS[key]) for key, value in values.items() if key in _KINDS}
        if "pairs" in given:
            given["pairs"] = tuple(_pair(pair) for pair in given["pairs"])
        given["pair_modes"] = {(row["pair"], row["filter"]): row["mode"] for row in given.get("pair_modes", ())}
        return cls(**given)


_KINDS: dict[str, tuple[type, ...]] = {
    "pairs": (list, tuple), "modes": (dict,), "pair_modes": (list, tuple), "quotes": (str,), "convert": (str, NoneType),
    "column": (str, NoneType), "shortest": (int,), "longest": (int,), "seed": (int,),
}  # fmt: skip


def _of_kind(value: Any, kinds: tuple[type, ...]) -> Any:
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise TypeError(type(value).__name__)
    return value


def _pair(values: Mapping[str, Any]) -> KeywordPair:
    words = [_of_kind(values[name], (str,)) for name in ("male", "female", "language")]
    stems = [(int(start), int(end)) for start, end in (values["male_stem"], values["female_stem"])]
    for word, (start, end) in zip(words[:2], stems, strict=True):
        if not 0 <= start < end <= len(word):
            raise ValueError("a stem outside of its word")
    return KeywordPair(words[0], words[1], stems[0], stems[1], words[2])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def rules_hash() -> str:
    """Return the SHA-256 of the packaged word lists and of the code of keywords and filters.

    Moving code or changing comments does not change it.
    """
    result = hashlib.sha256()
    for path in sorted(DATA.glob("mining_*.tsv")):
        result.update(path.name.encode() + b"\0" + path.read_bytes())
    text = ROOT / "core" / "text"  # what is a keyword
    filters = (ROOT / "core" / "mining" / "filters").rglob("*.py")
    files = [text / "dictionary.py", text / "containing_words.py", *filters]
    result.update("\n".join(sorted(rule for path in files for rule in code_of(path.read_text("utf-8")))).encode())
    return result.hexdigest()


def code_of(source: str) -> list[str]:
    """Return the statements of a module without its imports, comments and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return [ast.unparse(node) for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
