"""Convert probes to token ids. No part of a text can become a mask, and no text is cut off silently."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from evenhand.core.errors import N_
from evenhand.core.types import MASK, MaskedSentence, Span

BAD_SPAN = N_("The slot or a masked part lies outside the text, or the two overlap.")
NO_OPTIONS = N_("There are no words to compare.")
EMPTY_OPTION = N_("A word has no tokens in this model.")
UNKNOWN_OPTION = N_("A word is not in this model's vocabulary.")
UNEQUAL_OPTIONS = N_(
    "The words have different numbers of tokens in this model, so their probabilities are not comparable."
)
LITERAL_MASK = N_("The text contains a mask token outside the slot.")
TOO_LONG = N_("The sentence is longer than the model's context window, and truncating it would change the result.")

Options = tuple[tuple[int, ...] | None, ...]
SPACE_MARK = "▁"  # of SentencePiece, before a word and, unless told otherwise, before every text
EAST_ASIAN = 0x2010  # from this code point on: quotation marks, dashes, scripts that put no space between words

REMEMBERED = 1_000  # sets of options; a data set has a few dozen
UNBOUNDED = 1_000_000  # tokenizers that know no limit report 1e30


@dataclass(frozen=True, slots=True)
class Prepared:
    """A probe as token ids.

    `ids` has the mask token at `slots` (of the slot, in order) and at hidden
    places. `options` holds the ids of each option, or None for one that is
    undefined; `reason` says why. Without slots nothing can be scored.
    """

    ids: tuple[int, ...]
    slots: tuple[int, ...]
    options: Options
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Draft:
    """A probe whose pieces of text, one more than *masks*, are still to be encoded.

    `asked`: by their number in *masks*, the places that are scored, in the order of the text; `options`: the ids of
    each option at all of them.
    """

    pieces: list[str]
    masks: list[int]
    asked: dict[int, "_ReadOptions"]
    options: Options
    reason: str | None


@dataclass(frozen=True, slots=True)
class _ReadOptions:
    """The ids of each option, with a `reason` where one has none; `lead`: ids of the text right before the slot."""

    ids: Options
    reason: str | None = None
    lead: tuple[int, ...] = ()

    @property
    def width(self) -> int:
        """The number of tokens of the options; 0 where none is known."""
        return next((len(option) for option in self.ids if option), 0)


def _joined(read: "list[_ReadOptions]") -> tuple[Options, str | None]:
    """Return the ids of each option at all its places, None where a place has none; and the first reason."""
    reason = next((read_options.reason for read_options in read if read_options.reason), None)
    if any(not read_options.width for read_options in read):
        return tuple(None for _ in read[0].ids), reason
    parts = zip(*(read_options.ids for read_options in read), strict=True)
    return tuple(None if None in part else tuple(i for ids in part for i in ids or ()) for part in parts), reason


class TextReader:
    """Reads text with the tokenizer of one model; nothing in the text can become a special token."""

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self.longest = longest
        self.unknown_id: int | None = tokenizer.unk_token_id
        self.special_ids = frozenset(tokenizer.all_special_ids)
        self.padding_id: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._tokenizer = tokenizer
        # A copy of our own: the tokenizer resets these switches on every call.
        self._backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._backend.no_padding()
        self._backend.no_truncation()
        self._backend.encode_special_tokens = True  # a literal "[SEP]" in a text is text
        self._before, self._after = self._frame()

    def _frame(self) -> tuple[list[int], list[int]]:
        """Return the ids that the model puts around a sentence: [CLS] and [SEP], or their equivalents."""
        bare = self._backend.encode("a", add_special_tokens=False).ids
        framed = self._backend.encode("a", add_special_tokens=True).ids
        at = next((i for i in range(len(framed)) if framed[i : i + len(bare)] == bare), 0)
        return framed[:at], framed[at + len(bare) :]

    @property
    def before(self) -> tuple[int, ...]:
        """The ids that come before every text."""
        return tuple(self._before)

    def encode(self, text: str) -> list[int]:
        """Return token ids of a piece of text, without anything around it."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        """Return `encode` of many texts at once."""
        return [found.ids for found in self._backend.encode_batch_fast(texts, add_special_tokens=False)]

    def word(self, token_id: int) -> str:
        """Return a token in readable form: the text of byte-level and sentence-piece tokens, ##x unchanged."""
        token: str = self._tokenizer.convert_ids_to_tokens(token_id)
        return token if token.startswith("##") else str(self._tokenizer.decode([token_id])).strip() or token

    def is_unknown(self, encoding: Any, start: int, end: int) -> bool:
        """Return True if an encoded text has an unknown token that overlaps its part from *start* to *end*."""
        if self.unknown_id is None or self.unknown_id not in encoding.ids:
            return False
        places = zip(encoding.ids, encoding.offsets, strict=True)
        return any(i == self.unknown_id and first < end and last > start for i, (first, last) in places)

    def token_of(self, word: str, spaced: bool) -> int | None:
        """Return the id of a word that is exactly one known token, else None."""
        ids = self.encode(" " + word if spaced else word)
        return ids[0] if len(ids) == 1 and ids[0] != self.unknown_id else None


class TokenReader(TextReader):
    """Reads probes for masked scoring.

    *one_mask*: a hidden part gets one mask for any number of tokens. *first_piece*: only the first token of an option
    counts, and the slot has one mask.

    SentencePiece puts a mark before every text, as if a word began there. In a sentence without spaces no word begins
    after the slot or in it. So East Asian parts are cut without the mark, and a word in the slot is cut character by
    character, with one mask each. `in_place` is True if this tokenizer needs that.
    """

    def __init__(self, tokenizer: Any, longest: int, *, one_mask: bool = False, first_piece: bool = False) -> None:
        super().__init__(tokenizer, longest)
        self._one_mask, self._first_piece = one_mask, first_piece
        self.mask_id: int = tokenizer.mask_token_id
        self._literals = {MASK, tokenizer.mask_token}
        # The mask of RoBERTa swallows the space before it, and its words carry that space.
        self._swallows_space = bool(getattr(tokenizer.added_tokens_decoder.get(self.mask_id), "lstrip", False))
        self._known_options: dict[tuple[tuple[str, ...], bool, bool], _ReadOptions] = {}
        bare = _without_mark(self._backend.to_str())
        self._inside = None if bare is None else Tokenizer.from_str(bare)
        if self._inside is not None:
            self._inside.encode_special_tokens = True
        mark = self._backend.token_to_id(SPACE_MARK)
        self._mark: tuple[int, ...] = () if mark is None or self._inside is None else (mark,)

    @property
    def in_place(self) -> bool:
        """True if a part of a text is tokenized differently inside the text than alone."""
        return self._inside is not None

    def spaced(self, probe: MaskedSentence) -> bool:
        """Return True if words in the slot carry the space before it."""
        return self._after_space(probe.text, probe.start)

    def _after_space(self, text: str, start: int) -> bool:
        return self._swallows_space and start > 0 and text[start - 1].isspace()

    def token_in(self, probe: MaskedSentence, word: str) -> int | None:
        """Return the id of a word that is exactly one known token in the slot, else None."""
        if self._inside is None or not _unspaced(word):
            return self.token_of(word, self.spaced(probe))
        [ids] = self._options((word,), probe.text, probe.start).ids
        return ids[0] if ids and len(ids) == 1 else None

    def pieces(self, text: str, span: Span) -> int:
        """Return how many tokens the part of *text* at *span* has in its place."""
        if self._inside is not None and _unspaced(text[slice(*span)]):
            return len(self._inside.encode(text[slice(*span)], add_special_tokens=False).ids)
        return len(self.encode((" " if self._after_space(text, span[0]) else "") + text[slice(*span)]))

    def read(self, probe: MaskedSentence) -> Prepared:
        """Return the token ids of a probe, or the reason why it is undefined for this model."""
        return self.read_all([probe])[0]

    def read_all(self, probes: Sequence[MaskedSentence]) -> list[Prepared]:
        """Return the token ids of many probes, in order; much faster than one by one."""
        result = [self._draft(probe) for probe in probes]
        drafts = [draft for draft in result if isinstance(draft, _Draft)]
        pieces = iter(self._encode_pieces(drafts))
        done = iter([self._assemble(draft, [next(pieces) for _ in draft.pieces]) for draft in drafts])
        return [prepared if isinstance(prepared, Prepared) else next(done) for prepared in result]

    def _encode_pieces(self, drafts: Sequence[_Draft]) -> list[list[int]]:
        """Return the ids of every piece of text, in order."""
        pieces = [(piece, number > 0) for draft in drafts for number, piece in enumerate(draft.pieces)]
        if self._inside is None:
            return self.encode_all([piece for piece, _ in pieces])
        goes_on = [later and _unspaced(piece[:1]) for piece, later in pieces]
        inner, outer = ([p for (p, _), on in zip(pieces, goes_on, strict=True) if on == way] for way in (True, False))
        result = iter(self._inside.encode_batch_fast(inner, add_special_tokens=False))
        others = iter(self.encode_all(outer))
        return [next(result).ids if inside else next(others) for inside in goes_on]

    def _draft(self, probe: MaskedSentence) -> "_Draft | Prepared":
        """Return the draft of a probe before its text is encoded; the finished result where it is undefined."""
        nothing: tuple[None, ...] = (None,) * len(probe.options)
        places = probe.places()
        spans = sorted([*((place.start, place.end) for place in places), *probe.hidden])
        outside = outside_spans(probe.text, spans)
        if outside is None or any(place.start == place.end for place in places):
            return Prepared((), (), nothing, BAD_SPAN)
        if any(literal in piece for piece in outside for literal in self._literals):
            return Prepared((), (), nothing, LITERAL_MASK)
        read = {
            (place.start, place.end): self._options(tuple(place.options), probe.text, place.start) for place in places
        }
        options, reason = _joined(list(read.values()))
        if reason is not None and not any(options):
            return Prepared((), (), options or nothing, reason)
        masks = [self._masks(probe.text, span, read.get(span)) for span in spans]
        if self._swallows_space:
            outside = [*(piece.rstrip() for piece in outside[:-1]), outside[-1]]
        values = {number: read[span] for number, span in enumerate(spans) if span in read}
        return _Draft(outside, masks, values, options, reason)

    def _masks(self, text: str, span: Span, read: "_ReadOptions | None") -> int:
        """Return the number of masks for a place of the text: the tokens of its options, or of a hidden part."""
        if read is not None:
            return read.width
        return 1 if self._one_mask else self.pieces(text, span)

    def _options(self, options: tuple[str, ...], text: str, start: int) -> _ReadOptions:
        """Return the ids of each option at a place; None for unknown words, or for all of unequal length. Cached."""
        spaced = self._after_space(text, start)
        place = (options, spaced, spaced or start == 0)
        if place not in self._known_options:
            if len(self._known_options) > REMEMBERED:
                self._known_options.clear()
            self._known_options[place] = self._read_options(*place)
        return self._known_options[place]

    def _read_options(self, options: tuple[str, ...], spaced: bool, begins: bool) -> _ReadOptions:
        """Read the ids of options. *begins*: a word begins at the slot, so SentencePiece puts its mark there."""
        if not options:
            return _ReadOptions((), NO_OPTIONS)
        result = [tuple(self.encode((" " if spaced else "") + option)) for option in options]
        lead: tuple[int, ...] = ()
        if not all(result):
            return _ReadOptions((None,) * len(result), EMPTY_OPTION)
        if self._inside is not None and all(map(_unspaced, options)):
            marked = all(len(ids) == len(word) for ids, word in zip(result, options, strict=True))
            if not (begins and marked):
                result, lead = [self._characters(option) for option in options], self._mark if begins else ()
        if self._first_piece:
            result = [ids[:1] for ids in result]
        known = [ids if self.unknown_id not in ids else None for ids in result]
        if len({len(ids) for ids in known if ids}) > 1:
            return _ReadOptions((None,) * len(result), UNEQUAL_OPTIONS)
        return _ReadOptions(tuple(known), None if all(known) else UNKNOWN_OPTION, lead)

    def _characters(self, word: str) -> tuple[int, ...]:
        """Return one id per character of an East Asian word inside a text; a character in several pieces is unknown."""
        assert self._inside is not None
        cut = [self._inside.encode(character, add_special_tokens=False).ids for character in word]
        unknown = -1 if self.unknown_id is None else self.unknown_id
        return tuple(ids[0] if len(ids) == 1 else unknown for ids in cut)

    def _assemble(self, draft: "_Draft", pieces: list[list[int]]) -> Prepared:
        """Put pieces of text and masks together in turn; each piece was encoded separately, so masks stay where put."""
        ids, slots = [*self._before, *pieces[0]], list[int]()
        for number, (masks, piece) in enumerate(zip(draft.masks, pieces[1:], strict=True)):
            if number in draft.asked:
                ids += draft.asked[number].lead
                slots += range(len(ids), len(ids) + masks)
            ids += [*[self.mask_id] * masks, *piece]
        ids += self._after
        if len(ids) > self.longest:
            return Prepared((), (), (None,) * len(draft.options), TOO_LONG)
        return Prepared(tuple(ids), tuple(slots), draft.options, draft.reason)


def outside_spans(text: str, spans: list[Span]) -> list[str] | None:
    """Return the pieces of text around sorted spans, one more than there are spans; None for unsound spans."""
    pieces, at = [], 0
    for start, end in spans:
        if not at <= start <= end <= len(text):
            return None
        pieces.append(text[at:start])
        at = end
    return [*pieces, text[at:]]


def _unspaced(text: str) -> bool:
    """Return True if the text is East Asian: it follows the character before it without a space."""
    return bool(text) and all(ord(character) >= EAST_ASIAN for character in text)


def _without_mark(tokenizer: str) -> str | None:
    """Return the tokenizer, as JSON, without its mark before a text; None if it has no such mark."""
    made = json.loads(tokenizer)
    cutting, normalizer = made["pre_tokenizer"] or {}, made["normalizer"] or {}
    marking = [
        part
        for part in cutting.get("pretokenizers", [cutting])
        if part.get("type") == "Metaspace" and part.get("prepend_scheme") != "never"
    ]
    for part in marking:
        part["prepend_scheme"] = "never"
    parts = [part for part in normalizer.get("normalizers", [normalizer]) if part.get("type") != "Prepend"]
    prepends = len(parts) < len(normalizer.get("normalizers", [normalizer]))
    if prepends:
        made["normalizer"] = {"type": "Sequence", "normalizers": parts}
    return json.dumps(made) if marking or prepends else None


def longest_input(tokenizer: Any, config: Any) -> int:
    """Return how many tokens a model can read, including [CLS] and [SEP]."""
    positions = getattr(config, "max_position_embeddings", None) or UNBOUNDED
    if any(part in config.model_type for part in ("roberta", "camembert", "xmod")):
        positions -= (config.pad_token_id or 0) + 1  # these models count positions from after the padding id
    limit = tokenizer.model_max_length
    return int(min(positions, limit if limit < UNBOUNDED else positions))
