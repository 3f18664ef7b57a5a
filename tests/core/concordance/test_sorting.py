"""Lines of a concordance by their contexts; repeated sentences are one line."""

from evenhand.core.concordance import Line, Order, folded


def line(sentence: str, word: str, document: str = "a.txt", place: int = 1) -> Line:
    start = sentence.index(word)
    return Line(document, place, sentence, (start, start + len(word)), ())


def texts(lines: list[Line], order: Order) -> list[str]:
    return [repeated.line.sentence for repeated in folded(lines, order)]


def test_lines_are_sorted_outwards_from_the_word() -> None:
    lines = [
        line("the old nurse slept", "nurse"),
        line("a Young nurse came", "nurse"),
        line("an old nurse ate", "nurse"),
    ]
    assert texts(lines, "text") == [one.sentence for one in lines]
    assert texts(lines, "right") == ["an old nurse ate", "a Young nurse came", "the old nurse slept"]
    assert texts(lines, "left") == ["an old nurse ate", "the old nurse slept", "a Young nurse came"]


def test_a_chinese_character_counts_as_a_word() -> None:
    lines = [line("她问护士长", "护士"), line("他是护士。", "护士"), line("我是护士吗", "护士")]
    assert texts(lines, "left") == ["他是护士。", "我是护士吗", "她问护士长"]
    assert texts(lines, "right") == ["他是护士。", "我是护士吗", "她问护士长"]


def test_repeated_sentences_are_one_line_with_all_places() -> None:
    lines = [line("a nurse.", "nurse"), line("no nurse.", "nurse"), line("a nurse.", "nurse", "b.txt", 7)]
    first, second = folded(lines)
    assert first.places == (("a.txt", 1), ("b.txt", 7))
    assert second.places == (("a.txt", 1),)
    assert len(folded([line("nurse and nurse", "nurse"), Line("a.txt", 1, "nurse and nurse", (10, 15), ())])) == 2
