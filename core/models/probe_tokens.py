"""From a probe to token ids. Nothing that stands in a text can become a mask, and nothing is cut off in silence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer

from core.errors import N_
from core.types import MASK, MaskedSentence, Span

BAD_SPAN = N_("The slot or a hidden part lies outside the text, or they overlap.")
NO_OPTIONS = N_("There is no option to compare.")
EMPTY_OPTION = N_("A word is empty for this model.")
UNKNOWN_OPTION = N_("A word is not in this model's vocabulary.")
UNEQUAL_OPTIONS = N_("The words have different numbers of tokens in this model, so their probabilities do not compare.")
LITERAL_MASK = N_("The text holds a mask outside the slot.")
TOO_LONG = N_("The sentence is longer than this model can read, and cutting it would change the answer.")

Options = tuple[tuple[int, ...] | None, ...]

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
    """A probe whose pieces of text, one more than *masks*, are still to be encoded; `slot` is a number of *masks*."""

    pieces: list[str]
    masks: list[int]
    slot: int
    options: Options
    reason: str | None


class TextReader:
    """Reads text with the tokenizer of one model; nothing in the text can become a special token."""

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self.longest = longest
        self.unknown_id: int | None = tokenizer.unk_token_id
        self.special_ids = frozenset(tokenizer.all_special_ids)
        self.padding_id: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._tokenizer = tokenizer
        # A copy of our own: the tokenizer sets these switches back whenever it is called.
        self._backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._backend.no_padding()
        self._backend.no_truncation()
        self._backend.encode_special_tokens = True  # a literal "[SEP]" in a text is text
        self._before, self._after = self._frame()

    def _frame(self) -> tuple[list[int], list[int]]:
        """The ids that the model puts around a sentence: [CLS] and [SEP], or what it calls them."""
        bare = self._backend.encode("a", add_special_tokens=False).ids
        framed = self._backend.encode("a", add_special_tokens=True).ids
        at = next((i for i in range(len(framed)) if framed[i : i + len(bare)] == bare), 0)
        return framed[:at], framed[at + len(bare) :]

    @property
    def before(self) -> tuple[int, ...]:
        """The ids that stand before every text."""
        return tuple(self._before)

    def encode(self, text: str) -> list[int]:
        """Token ids of a piece of text, without anything around it."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        """`encode` of many texts at once."""
        return [found.ids for found in self._backend.encode_batch_fast(texts, add_special_tokens=False)]

    def word(self, token_id: int) -> str:
        """How a token reads: the text of byte-level and sentence-piece tokens, ##x as it is."""
        token: str = self._tokenizer.convert_ids_to_tokens(token_id)
        return token if token.startswith("##") else str(self._tokenizer.decode([token_id])).strip() or token

    def token_of(self, word: str, spaced: bool) -> int | None:
        """The id of a word that is exactly one known token, else None."""
        ids = self.encode(" " + word if spaced else word)
        return ids[0] if len(ids) == 1 and ids[0] != self.unknown_id else None


class TokenReader(TextReader):
    """Reads probes for masked scoring.

    *one_mask*: a hidden part gets one mask, however many tokens it has. *first_piece*: of an option only the first
    token counts, and the slot has one mask.
    """

    def __init__(self, tokenizer: Any, longest: int, *, one_mask: bool = False, first_piece: bool = False) -> None:
        super().__init__(tokenizer, longest)
        self._one_mask, self._first_piece = one_mask, first_piece
        self.mask_id: int = tokenizer.mask_token_id
        self._literals = {MASK, tokenizer.mask_token}
        # The mask of RoBERTa swallows the space before it, and its words carry that space.
        self._swallows_space = bool(getattr(tokenizer.added_tokens_decoder.get(self.mask_id), "lstrip", False))
        self._known_options: dict[tuple[tuple[str, ...], bool], tuple[Options, str | None]] = {}

    def spaced(self, probe: MaskedSentence) -> bool:
        """Whether words in the slot carry the space before it."""
        return self._after_space(probe.text, probe.start)

    def _after_space(self, text: str, start: int) -> bool:
        return self._swallows_space and start > 0 and text[start - 1].isspace()

    def pieces(self, text: str, span: Span) -> int:
        """How many tokens the part of *text* has where it stands."""
        return len(self.encode((" " if self._after_space(text, span[0]) else "") + text[slice(*span)]))

    def read(self, probe: MaskedSentence) -> Prepared:
        """The token ids of a probe, or the reason why it is undefined for this model."""
        return self.read_all([probe])[0]

    def read_all(self, probes: Sequence[MaskedSentence]) -> list[Prepared]:
        """The token ids of many probes, in order; much faster than one by one."""
        found: list[Prepared | None] = []
        drafts: list[_Draft] = []
        for probe in probes:
            outcome = self._draft(probe)
            found.append(outcome if isinstance(outcome, Prepared) else None)
            if isinstance(outcome, _Draft):
                drafts.append(outcome)
        pieces = iter(self.encode_all([piece for draft in drafts for piece in draft.pieces]))
        done = iter([self._assemble(draft, [next(pieces) for _ in draft.pieces]) for draft in drafts])
        return [next(done) if one is None else one for one in found]

    def _draft(self, probe: MaskedSentence) -> "_Draft | Prepared":
        """What can be said of a probe before its text is encoded; finished where it is undefined."""
        nothing: tuple[None, ...] = (None,) * len(probe.options)
        spans = sorted([(probe.start, probe.end), *probe.hidden])
        outside = outside_spans(probe.text, spans)
        if outside is None or probe.start == probe.end:
            return Prepared((), (), nothing, BAD_SPAN)
        if any(literal in piece for piece in outside for literal in self._literals):
            return Prepared((), (), nothing, LITERAL_MASK)
        options, reason = self._options(tuple(probe.options), self.spaced(probe))
        width = next((len(option) for option in options if option), 0)
        if not width:
            return Prepared((), (), options, reason)
        slot = (probe.start, probe.end)
        masks = [width if span == slot else 1 if self._one_mask else self.pieces(probe.text, span) for span in spans]
        if self._swallows_space:
            outside = [*(piece.rstrip() for piece in outside[:-1]), outside[-1]]
        return _Draft(outside, masks, spans.index(slot), options, reason)

    def _options(self, options: tuple[str, ...], spaced: bool) -> tuple[Options, str | None]:
        """Ids per option; None for an unknown word, and for all where their lengths differ. Remembered."""
        if (options, spaced) not in self._known_options:
            if len(self._known_options) > REMEMBERED:
                self._known_options.clear()
            self._known_options[options, spaced] = self._read_options(options, " " if spaced else "")
        return self._known_options[options, spaced]

    def _read_options(self, options: tuple[str, ...], space: str) -> tuple[Options, str | None]:
        if not options:
            return (), NO_OPTIONS
        found = [tuple(self.encode(space + option)) for option in options]
        if not all(found):
            return (None,) * len(found), EMPTY_OPTION
        if self._first_piece:
            found = [ids[:1] for ids in found]
        known = [ids if self.unknown_id not in ids else None for ids in found]
        if len({len(ids) for ids in known if ids}) > 1:
            return (None,) * len(found), UNEQUAL_OPTIONS
        return tuple(known), None if all(known) else UNKNOWN_OPTION

    def _assemble(self, draft: "_Draft", pieces: list[list[int]]) -> Prepared:
        """Pieces of text and masks in turn; each piece was encoded on its own, so a mask is only where one is put."""
        ids, slots = [*self._before, *pieces[0]], range(0)
        for number, (masks, piece) in enumerate(zip(draft.masks, pieces[1:], strict=True)):
            if number == draft.slot:
                slots = range(len(ids), len(ids) + masks)
            ids += [*[self.mask_id] * masks, *piece]
        ids += self._after
        if len(ids) > self.longest:
            return Prepared((), (), (None,) * len(draft.options), TOO_LONG)
        return Prepared(tuple(ids), tuple(slots), draft.options, draft.reason)


def outside_spans(text: str, spans: list[Span]) -> list[str] | None:
    """The pieces of text around sorted spans, one more than there are spans; None where the spans are not sound."""
    pieces, at = [], 0
    for start, end in spans:
        if not at <= start <= end <= len(text):
            return None
        pieces.append(text[at:start])
        at = end
    return [*pieces, text[at:]]


def longest_input(tokenizer: Any, config: Any) -> int:
    """How many tokens a model can read, [CLS] and [SEP] counted."""
    positions = getattr(config, "max_position_embeddings", None) or UNBOUNDED
    if any(part in config.model_type for part in ("roberta", "camembert", "xmod")):
        positions -= (config.pad_token_id or 0) + 1  # these models count positions from after the padding id
    limit = tokenizer.model_max_length
    return int(min(positions, limit if limit < UNBOUNDED else positions))
