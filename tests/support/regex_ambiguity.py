"""Find regular expressions that Python's backtracking matcher may need more than linear time for.

A pattern becomes a graph of its characters (Glushkov's automaton). Time grows faster than the text where two loops can
read the same word one after the other (`\\d+\\.?\\d*`), where one loop can read it in two ways (`(a+)+`), or where a
search begins again at each character of a loop (`\\s+$`), if something behind the loop can still fail. Repetitions up
to a number count as no loop: they cost a constant factor.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

SAMPLE = "aZz59 \t\n_-.,éß他，。\u3000५ \x00"  # of every category, and what most classes leave out
CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
BEGINNINGS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
MOST_PRODUCT = 400_000  # steps of one search for a shared word


@dataclass
class Part:
    """A part of a pattern: whether it may be empty, where it begins and ends, and whether all of that is certain."""

    empty: bool
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    sure: bool = True  # False: an assertion in it may fail although nothing is read


@dataclass
class Graph:
    """The characters of a pattern (bit masks over a sample of characters) and which may follow which."""

    letters: str
    masks: list[int] = field(default_factory=list)
    follow: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    possessive: set[int] = field(default_factory=set)
    doubled: set[tuple[int, int]] = field(default_factory=set)  # two repetitions lead from the first to the second
    free: frozenset[int] = frozenset()  # the match may end here

    def add(self, mask: int) -> Part:
        """Return a part of one character."""
        self.masks.append(mask)
        here = frozenset({len(self.masks) - 1})
        return Part(False, here, here)

    def join(self, before: Part, behind: Part) -> Part:
        """Return one part behind another."""
        for place in before.last:
            self.follow[place] |= behind.first
        return Part(
            before.empty and behind.empty,
            before.first | (behind.first if before.empty else frozenset()),
            behind.last | (before.last if behind.empty else frozenset()),
            before.sure and behind.sure,
        )


def letters_of(tree: Any) -> str:
    """Return characters by which the classes of a pattern differ."""
    codes: set[int] = {ord(sign) for sign in SAMPLE}

    def walk(node: Any) -> None:
        if isinstance(node, tuple) and len(node) == 2 and node[0] in (sre.LITERAL, sre.NOT_LITERAL):
            codes.add(node[1])
        elif isinstance(node, tuple) and len(node) == 2 and node[0] is sre.RANGE:
            codes.update({node[1][0], node[1][1], max(0, node[1][0] - 1), min(0x10FFFF, node[1][1] + 1)})
        elif isinstance(node, tuple | list) or hasattr(node, "data"):
            for child in getattr(node, "data", node):
                walk(child)

    walk(tree)
    return "".join(map(chr, sorted(codes)))


class Builder:
    """Makes the graph of a parsed pattern."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def sequence(self, tree: Any, flags: int) -> Part:
        """Return the part of several nodes, one behind the other."""
        whole = Part(True)
        for node in tree:
            whole = self.graph.join(whole, self.node(node, flags))
        return whole

    def node(self, node: Any, flags: int) -> Part:
        """Return the part of one node."""
        kind, value = node
        if kind in REPEATS:
            return self.repeat(kind, value, flags)
        if kind is sre.SUBPATTERN:
            _group, added, removed, inside = value
            return self.sequence(inside, (flags | added) & ~removed)
        if kind is sre.ATOMIC_GROUP:
            return self.sequence(value, flags)
        if kind is sre.BRANCH:
            return self.either([self.sequence(branch, flags) for branch in value[1]])
        if kind in (sre.ASSERT, sre.ASSERT_NOT) and value[0] > 0:  # it reads ahead, and gives back what it read
            return Part(True, self.sequence(value[1], flags).first, sure=False)
        if kind is sre.AT and value in BEGINNINGS and not flags & re.MULTILINE:
            return self.graph.add(0)  # nothing may be before it
        if kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            return Part(True, sure=False)
        if kind is sre.GROUPREF:
            return self.graph.add((1 << len(self.graph.letters)) - 1)
        if kind is sre.GROUPREF_EXISTS:
            return self.either([self.sequence(branch or [], flags) for branch in value[1:]])
        return self.graph.add(mask_of(node, self.graph.letters, flags))

    def either(self, parts: list[Part]) -> Part:
        """Return the part of branches."""
        return Part(
            any(part.empty for part in parts),
            frozenset().union(*(part.first for part in parts)),
            frozenset().union(*(part.last for part in parts)),
            all(part.sure for part in parts if part.empty),
        )

    def repeat(self, kind: Any, value: Any, flags: int) -> Part:
        """Return the part of a repetition: a loop without a largest number, else at most two copies."""
        least, most, inside = value
        before = len(self.graph.masks)
        part = self.sequence(inside, flags)
        if most is sre.MAXREPEAT:
            for place in part.last:
                again = part.first & self.graph.follow[place] if place not in self.graph.possessive else ()
                self.graph.doubled |= {(place, behind) for behind in again}
                self.graph.follow[place] |= part.first
        elif most > 1 and contains_loop(inside):
            copy = self.sequence(inside, flags)
            part = self.graph.join(part, Part(copy.empty or least < 2, copy.first, copy.last, copy.sure))
        if kind is sre.POSSESSIVE_REPEAT:
            self.graph.possessive |= set(range(before, len(self.graph.masks)))
        if least == 0:
            return Part(True, part.first, part.last, True)
        return part


def contains_loop(tree: Any) -> bool:
    """Return whether a pattern has a repetition without a largest number."""
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in REPEATS and tree[1][1] is sre.MAXREPEAT:
        return True
    if isinstance(tree, tuple | list) or hasattr(tree, "data"):
        return any(contains_loop(child) for child in getattr(tree, "data", tree))
    return False


def mask_of(node: Any, letters: str, flags: int) -> int:
    """Return which letters a node of one character reads."""
    return sum(1 << place for place, sign in enumerate(letters) if reads(node, sign, flags))


def reads(node: Any, sign: str, flags: int) -> bool:
    """Return whether a node of one character reads a sign."""
    kind, value = node
    signs = {sign, sign.lower(), sign.upper()} if flags & re.IGNORECASE else {sign}
    codes = {ord(form) for form in signs if len(form) == 1}
    if kind is sre.ANY:
        return bool(flags & re.DOTALL) or sign != "\n"
    if kind is sre.LITERAL:
        return value in codes
    if kind is sre.NOT_LITERAL:
        return value not in codes
    if kind is sre.RANGE:
        return any(value[0] <= code <= value[1] for code in codes)
    if kind is sre.CATEGORY:
        return re.fullmatch(CATEGORIES[value], sign, flags & re.ASCII) is not None
    if kind is sre.IN:
        negated = bool(value) and value[0][0] is sre.NEGATE
        return negated != any(reads(inner, sign, flags) for inner in value[negated:])
    raise AssertionError(f"a node of a pattern that is not known: {kind}")


def sure_last(parts: list[Part]) -> frozenset[int]:
    """Return the places of a sequence of parts after which a match ends whether or not more text follows."""
    places: frozenset[int] = frozenset()
    for part in reversed(parts):
        places |= part.last if part.sure else frozenset()
        if not (part.empty and part.sure):
            break
    return places


def graph_of(pattern: str, flags: int, mode: str) -> tuple[Graph, int | None]:
    """Return the graph of a pattern, and the place of the loop by which a search begins at each character."""
    tree = parser.parse(pattern, flags & ~re.DEBUG)
    graph, flags = Graph(letters_of(tree)), flags | tree.state.flags
    builder = Builder(graph)
    starts: list[tuple[int, frozenset[int]]] = []  # what may come before a branch, and where it begins
    for nodes, own in branches(list(tree), flags):
        parts = [builder.node(node, own) for node in nodes]
        whole = Part(True)
        for part in parts:
            whole = graph.join(whole, part)
        if mode != "fullmatch":
            graph.free |= sure_last(parts)
        starts.append((before_search(nodes, own, graph, whole), whole.first))
    return graph, add_search(graph, starts) if mode == "search" else None


def branches(nodes: list[Any], flags: int) -> Iterator[tuple[list[Any], int]]:
    """Yield the branches of a pattern, without the group that begins them, and the flags of each."""
    if nodes and nodes[0][0] is sre.SUBPATTERN and not any(kind is sre.BRANCH for kind, _ in nodes[0][1][3]):
        _group, added, removed, inside = nodes[0][1]
        yield from branches([*inside, *nodes[1:]], (flags | added) & ~removed)
    elif len(nodes) == 1 and nodes[0][0] in (sre.SUBPATTERN, sre.BRANCH):
        added, removed = nodes[0][1][1:3] if nodes[0][0] is sre.SUBPATTERN else (0, 0)
        inner = nodes[0][1][3] if nodes[0][0] is sre.SUBPATTERN else nodes
        for branch in inner[0][1][1] if len(inner) == 1 else [inner]:
            yield list(branch), (flags | added) & ~removed
    else:
        yield nodes, flags


def before_search(nodes: list[Any], flags: int, graph: Graph, whole: Part) -> int:
    """Return the characters that may be before a match, by the assertions with which a pattern begins."""
    before = (1 << len(graph.letters)) - 1
    for kind, value in nodes:
        if kind is sre.AT and value is sre.AT_BEGINNING and flags & re.MULTILINE:
            before &= 1 << graph.letters.index("\n")
        elif kind is sre.AT and value is sre.AT_BOUNDARY:
            word = mask_of((sre.CATEGORY, sre.CATEGORY_WORD), graph.letters, flags)
            if not any(graph.masks[place] & ~word for place in whole.first):
                before &= ~word
        elif kind in (sre.ASSERT, sre.ASSERT_NOT) and value[0] < 0 and len(value[1]) == 1:
            mask = mask_of(value[1][0], graph.letters, flags) if value[1][0][0] in SINGLE else None
            if mask is not None:
                before &= mask if kind is sre.ASSERT else ~mask
        elif kind not in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            break
    return before


def add_search(graph: Graph, starts: list[tuple[int, frozenset[int]]]) -> int:
    """Add the loop by which a search begins at each character that the pattern allows before a match."""
    every = (1 << len(graph.letters)) - 1
    (loop,) = graph.add(every).first
    graph.follow[loop].add(loop)
    for before, first in starts:
        (last,) = graph.add(before).first
        graph.follow[loop] |= {last} | (first if before == every else frozenset())
        graph.follow[last] |= first
    return loop


def components(graph: Graph, places: Iterable[int]) -> list[set[int]]:
    """Return the loops of a graph: sets of places that all lead to each other."""
    within = set(places)

    def reached(start: int) -> set[int]:
        results: set[int] = set()
        waiting = [place for place in graph.follow[start] if place in within]
        while waiting:
            place = waiting.pop()
            if place not in results:
                results.add(place)
                waiting += [behind for behind in graph.follow[place] if behind in within]
        return results

    looping = {place: found for place in sorted(within) if place in (found := reached(place))}
    loops: list[set[int]] = []
    for place, found in looping.items():
        if not any(place in loop for loop in loops):
            loops.append({other for other in found if place in looping.get(other, ())})
    return loops


def steps(graph: Graph, triple: tuple[int, ...], within: tuple[set[int] | None, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the places that one and the same character leads to from several places."""
    options = [
        [place for place in graph.follow[at] if allowed is None or place in allowed]
        for at, allowed in zip(triple, within, strict=True)
    ]
    for reached in product(*options):
        shared = -1
        for place in reached:
            shared &= graph.masks[place]
        if shared:
            yield reached


def share_a_word(graph: Graph, p: int, q: int, of_p: set[int], of_q: set[int]) -> bool:
    """Return whether one word leads from p to p, from p to q and from q to q."""
    seen, waiting = set(), [(p, p, q)]
    while waiting and len(seen) < MOST_PRODUCT:
        for reached in steps(graph, waiting.pop(), (of_p, None, of_q)):
            if reached == (p, q, q):
                return True
            if reached not in seen:
                seen.add(reached)
                waiting.append(reached)
    return len(seen) >= MOST_PRODUCT


def reads_in_two_ways(graph: Graph, loop: set[int]) -> bool:
    """Return whether one loop can read a word in two ways, which takes exponential time."""
    if any({place, behind} <= loop for place, behind in graph.doubled):
        return True
    for p in loop:
        seen, waiting = set(), [(p, p)]
        while waiting and len(seen) < MOST_PRODUCT:
            for reached in steps(graph, waiting.pop(), (loop, loop)):
                if reached not in seen:
                    seen.add(reached)
                    waiting.append(reached)
        if any(first != two and returns(graph, (first, two), p, loop) for first, two in seen):
            return True
    return False


def returns(graph: Graph, pair: tuple[int, int], p: int, loop: set[int]) -> bool:
    """Return whether one word leads from both places of a pair to p."""
    seen, waiting = {pair}, [pair]
    while waiting:
        for reached in steps(graph, waiting.pop(), (loop, loop)):
            if reached == (p, p):
                return True
            if reached not in seen:
                seen.add(reached)
                waiting.append(reached)
    return False


def problem(pattern: str, flags: int, mode: str) -> str | None:
    """Return why a pattern may need more than linear time in *mode* (search, match, fullmatch); None: it does not."""
    graph, start = graph_of(pattern, flags, mode)
    loops = components(graph, [place for place in range(len(graph.masks)) if place != start])
    for loop in loops:
        if reads_in_two_ways(graph, loop):
            return "one repetition reads the same text in two ways"
    failing = components(graph, [place for loop in loops for place in loop if place not in graph.free])
    for loop in failing:
        if start is not None and any(share_a_word(graph, start, q, {start}, loop) for q in loop):
            return "a search begins again at each character of a repetition behind which it can fail"
        for other in loops:
            if other == loop or other <= graph.possessive or loop <= other:
                continue
            if any(share_a_word(graph, p, q, other, loop) for p in other for q in loop):
                return "two repetitions can read the same text, one behind the other"
    return None
