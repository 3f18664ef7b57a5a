"""The shared UI: text as it is, undefined values, files to take away, addresses."""

import ast
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.sentences import NAME as DEMO
from evenhand.annotations.projects.projects import create_project
from evenhand.core.language import significant
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence
from evenhand.pages.ui.charts import csv_bytes
from evenhand.pages.ui.equivalence import shown_from
from evenhand.pages.ui.numbers import (
    DASH,
    POINTS,
    SIZE_IN_POINTS,
    bracketed,
    day,
    interval,
    large,
    moment,
    number,
    zone_name,
)
from evenhand.pages.ui.sentences import item_card, judgement, with_keyword
from evenhand.pages.ui.tables import Column, below, joined, sheet, span, table
from evenhand.pages.ui.text import from_to, names_in, plain, spoken
from evenhand.pages.ui.visitor import unknown_address
from tests.support.pages import without_exception


@pytest.mark.parametrize(
    ("zone", "name"),
    [("Asia/Shanghai", "Asia/Shanghai (UTC+08:00)"), ("UTC", "UTC"), ("", "UTC"), ("Nowhere/None", "UTC")],
)
def test_the_time_zone_of_times_is_named(zone: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.pages.ui.numbers.st.context", SimpleNamespace(timezone=zone))
    assert zone_name() == name


@pytest.mark.parametrize(
    ("zone", "text", "date"),
    [
        ("Asia/Shanghai", "2026-03-11 01:05", "2026-03-11"),
        ("", "2026-03-10 17:05 UTC", "2026-03-10"),
        ("Nowhere/None", "2026-03-10 17:05 UTC", "2026-03-10"),
    ],
)
def test_times_are_in_the_visitors_zone_or_marked_utc(
    zone: str, text: str, date: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.pages.ui.numbers.st.context", SimpleNamespace(timezone=zone))
    for when in ("2026-03-10T17:05:09.000Z", "2026-03-10T17:05:09", 1773162309.0):
        assert moment(when) == text
    assert day("2026-03-10T17:05:09.000Z") == date
    assert moment(None) == "—"


@pytest.mark.parametrize(
    ("number", "english", "chinese"),
    [
        (0, "0", "0"),
        (3_417, "3,417", "3,417"),
        (9_999.6, "10,000", "10,000"),
        (34_170, "34,200", "3.42 万"),
        (999_600, "1 M", "100 万"),
        (12_240_000, "12.2 M", "1,220 万"),
        (99_960_000, "100 M", "1 亿"),
        (1_224_000_000, "1.22 bn", "12.2 亿"),
        (5_000_000_000_000, "5,000 bn", "50,000 亿"),
    ],
)
def test_large_numbers_have_equal_precision_in_both_languages(
    number: float, english: str, chinese: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tag, text in (("en", english), ("zh", chinese)):
        monkeypatch.setattr("evenhand.pages.ui.numbers.language", lambda tag=tag: tag)
        assert large(number) == text


@given(st.floats(1e-30, 1e15), st.integers(1, 5))
def test_numbers_are_formatted_without_e_notation(number: float, digits: int) -> None:
    text = significant(number, digits)
    assert "e" not in text
    plain_text = text.replace(",", "").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")).replace(" × 10", "e")
    assert float(plain_text) == pytest.approx(number, rel=10.0 ** (1 - digits))


@given(st.text(st.characters(blacklist_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1))
def test_plain_escapes_all_markdown(text: str) -> None:
    """A Markdown reader with tables and links on gives the text back, in one paragraph."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(plain(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children).replace("\u2060", "") == text


@pytest.mark.parametrize("text", ["ada@example.org", "see http://a.example/x", "HTTPS://a.example", "www.a.example"])
def test_an_address_in_plain_text_does_not_become_a_link(text: str) -> None:
    """GitHub's Markdown makes links of what looks like an address in the text that is left without its escapes."""
    links = re.compile(r"https?://[-.\w]+|www\.[-\w]+|[-.\w+]+@[-\w]+(\.[-\w]+)+", re.I)
    assert links.search(text) and not links.search(plain(text).replace("\\", ""))


@given(st.text())
@example("![x](http://a/b.png) `c` #stereo-type *x* \\*")
def test_a_spoken_label_contains_no_markdown(text: str) -> None:
    """A screen reader reads the text literally; a Markdown reader finds no markup in it, least of all a picture."""
    said = spoken(f"Criterion for {text}")
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(said)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {child.type for child in tokens[1].children or []} == {"text"}
    assert "\\" not in said


def test_a_spoken_file_name_keeps_its_underscores() -> None:
    assert spoken("Undo import of demo_sentences.tsv, _now_") == "Undo import of demo_sentences.tsv, now"


INPUTS = (
    *("text_input", "text_area", "number_input", "selectbox", "multiselect", "slider", "select_slider", "checkbox"),
    *("toggle", "radio", "date_input", "file_uploader", "segmented_control"),
)


def pages_that_escape() -> Iterator[tuple[Path, ast.Module]]:
    """Yield each file of pages that calls `plain`, with its tree."""
    for file in (Path(__file__).parents[2] / "pages").rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "plain(" in source:
            yield file, ast.parse(source)


def test_labels_of_inputs_are_not_escaped() -> None:
    """The label becomes the aria-label, in which a screen reader would read backslashes; `spoken` is for it."""
    wrong = []
    for file, tree in pages_that_escape():
        for part in ast.walk(tree):
            if not isinstance(part, ast.FunctionDef):
                continue
            escaped = {
                target.id
                for node in ast.walk(part)
                if isinstance(node, ast.Assign) and "plain(" in ast.unparse(node.value)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            calls = (node for node in ast.walk(part) if isinstance(node, ast.Call) and node.args)
            labels = (
                call.args[0] for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in INPUTS
            )
            for label in labels:
                if "plain(" in ast.unparse(label) or (isinstance(label, ast.Name) and label.id in escaped):
                    wrong.append(f"{file.name}:{label.lineno}")
    assert wrong == []


def test_options_of_lists_are_not_escaped() -> None:
    """Streamlit reads no Markdown in the options of a selectbox or multiselect: a visitor would see the backslashes."""
    wrong = [
        f"{file.name}:{call.lineno}"
        for file, tree in pages_that_escape()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.func.attr in ("selectbox", "multiselect")
        for given_to in call.keywords
        if given_to.arg == "format_func" and "plain(" in ast.unparse(given_to.value)
    ]
    assert not wrong


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\n=1", "＝1+1", "＋1", "－1", "＠x", "'=1"]
)
def test_cells_of_a_download_are_not_formulas(cell: str) -> None:
    text = csv_bytes([{"word": cell, "n": -1.5}]).decode("utf-8-sig")
    assert pd.read_csv(io.StringIO(text, newline=""))["word"][0] == f"'{cell}"
    assert "-1.5" in text
    heading = csv_bytes([{cell: 1}]).decode("utf-8-sig")
    assert list(pd.read_csv(io.StringIO(heading, newline=""))) == [f"'{cell}"]


def test_undefined_is_an_empty_cell() -> None:
    assert csv_bytes([{"a": None, "b": 0.5}]) == b"\xef\xbb\xbfa,b\r\n,0.5\r\n"


@pytest.mark.parametrize(
    ("url", "shown", "base", "expected"),
    [
        ("http://x:8501/", "", "", None),
        ("http://x:8501", "", "", None),
        (None, "", "", None),
        ("http://x/about?lang=zh", "about", "", None),
        ("http://x/nothing", "", "", "nothing"),
        ("http://x/%E6%97%A0", "", "", "无"),
        ("http://x/apps/evenhand/", "", "/apps/evenhand/", None),
        ("http://x/apps/evenhand/about", "about", "apps/evenhand", None),
        ("http://x/apps/evenhand/ab", "", "apps/evenhand", "ab"),
    ],
)
def test_unknown_addresses_are_recognised(url: str | None, shown: str, base: str, expected: str | None) -> None:
    assert unknown_address(url, shown, base) == expected


def choosing() -> None:
    import streamlit as st

    from evenhand.pages.ui.choose import choose_project
    from evenhand.pages.ui.visitor import open_store

    with open_store() as store:
        project = choose_project(store)
        st.text("none" if project is None else project.name)


def chosen(project: str = "") -> AppTest:
    app = AppTest.from_function(choosing, default_timeout=300)
    if project:
        app.query_params["project"] = project
    return app.run()


@pytest.mark.usefixtures("fresh_store")
def test_without_projects_the_page_explains_what_to_do() -> None:
    # Outside the navigation a link to a page is an error of Streamlit's own, so only the sentence is looked at.
    assert "There are no projects yet" in chosen().info[0].value


def _prose() -> None:
    from streamlit import text

    from evenhand.pages.ui.text import clauses, paragraph, series

    text(series(("A", "B", "C")))
    text(series(()))
    text(paragraph(("One.", "Two.")))
    text(clauses(("A, B", "C")))


@pytest.mark.parametrize(
    ("lang", "said"),
    [("en", ["A, B, C", "", "One. Two.", "A, B; C"]), ("zh", ["A、B、C", "", "One.Two.", "A, B；C"])],
)
def test_lists_and_paragraphs_follow_the_language(lang: str, said: list[str]) -> None:
    at = AppTest.from_function(_prose, default_timeout=300)
    at.query_params["lang"] = lang
    assert [element.value for element in at.run().text] == said


def _places() -> None:
    from evenhand.pages.ui.uploads import choose_upload, choose_uploads, read_upload

    choose_upload("File", ["csv", "tsv"], key="a b")
    choose_uploads("Files", ["txt"], key="many")
    read_upload("Words", ["tsv"], key="words")


@pytest.mark.parametrize(
    ("lang", "button", "limits"),
    [
        (
            "en",
            "Choose a file",
            ["up to 512 MB per file: CSV, TSV", "up to 512 MB per file: TXT", "up to 1 MB per file: TSV"],
        ),
        ("zh", "选择文件", ["每个文件最大 512 MB；CSV、TSV", "每个文件最大 512 MB；TXT", "每个文件最大 1 MB；TSV"]),
    ],
)
def test_an_upload_box_shows_its_limit_in_the_language(lang: str, button: str, limits: list[str]) -> None:
    """Streamlit's own words are hidden by style.css, since they give 1GB where 512 MB are accepted."""
    at = AppTest.from_function(_places, default_timeout=300)
    at.query_params["lang"] = lang
    styles = [element.proto.body for element in at.run().get("html")]
    assert f'<style>.st-key-a-b{{--upload-button:"{button}";--upload-limit:"{limits[0]}"}}</style>' == styles[0]
    assert [re.findall(r'--upload-limit:"(.+?)"', style) for style in styles] == [[limit] for limit in limits]
    # Text of size 0 is read by screen readers, hidden text is not.
    assert "visibility: hidden" in " ".join(re.findall(r"Instructions\] span \{([^}]*)\}", sheet()))
    assert {"var(--upload-button)", "var(--upload-limit)"} <= set(re.findall(r"content: (var\(.+?\))", sheet()))


def test_a_project_is_opened_by_its_address_and_kept(fresh_store: Store) -> None:
    for name in ("one", "*two*"):
        create_project(fresh_store, name)
    app = chosen("*two*")
    assert app.text[0].value == "*two*"
    app.selectbox(key="project").set_value("one").run()
    assert app.text[0].value == "one"
    assert app.query_params["project"] == "one"


def _choosing_generations() -> None:
    import streamlit as st

    from evenhand.pages.ui.choose import choose_project
    from evenhand.pages.ui.visitor import open_store

    with open_store() as store:
        project = choose_project(store, "generations-project", kind="generations")
        st.text("none" if project is None else project.name)


def test_looking_at_another_kind_keeps_the_chosen_project(fresh_store: Store) -> None:
    """Nothing of another project is shown before it is chosen; a project chosen here is chosen on all pages."""
    create_project(fresh_store, "sentences")
    for name in ("first texts", "other texts"):
        other = create_project(fresh_store, name, kind="generations")
    app = AppTest.from_function(_choosing_generations, default_timeout=300)
    app.query_params["project"] = "sentences"
    app.run()
    assert app.text[0].value == "none"
    assert "This page does not apply to sentences, which is a different kind of project" in app.info[0].value
    assert app.query_params["project"] == "sentences"
    app.button(key=f"project-{other.uid}").click().run()
    assert app.text[0].value == "other texts"
    assert not app.info and app.session_state["last_project"] == "other texts"
    assert app.query_params["project"] == "other texts"


def test_several_projects_are_offered_with_the_demo_last(fresh_store: Store) -> None:
    for name in (DEMO, "mine", "other"):
        create_project(fresh_store, name)
    app = chosen()
    assert app.text[0].value == "none" and not app.selectbox
    assert [button.label.replace("\\", "") for button in app.button] == ["mine", "other", DEMO]


def test_an_unknown_project_is_reported_and_another_opened(fresh_store: Store) -> None:
    create_project(fresh_store, "one")
    app = chosen("two")
    assert "There is no open project named two" in app.warning[0].value
    assert app.text[0].value == "one"


def _two_choices() -> None:
    import streamlit as st

    from evenhand.pages.ui.choose import choose

    st.session_state.setdefault("stale", "gone")
    kept = choose("View", {"a": "first", "b": "second"}, "view", first="b", address="view", heading=False)
    choose("Stale", {"a": "first", "b": "second"}, "stale")
    st.text(kept)


@pytest.mark.parametrize(
    ("address", "expected"), [(None, "b"), ("a", "a"), ("no such view", "b")], ids=["none", "known", "unknown"]
)
def test_choose_reads_and_updates_the_address(address: str | None, expected: str) -> None:
    page = AppTest.from_function(_two_choices, default_timeout=300)
    if address:
        page.query_params["view"] = address
    page.run()
    assert not page.exception
    assert page.segmented_control(key="view").value == page.text[0].value == expected
    assert page.query_params["view"] in (expected, [expected])
    assert page.segmented_control(key="stale").value == "a", "an option that is gone gives way to the first"
    page.segmented_control(key="view").set_value("a").run()
    assert page.text[0].value == "a"
    assert page.query_params["view"] in ("a", ["a"])


class Tags(HTMLParser):
    """What a browser makes of some HTML: the names of its elements, their attributes, the text between them."""

    def __init__(self, body: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(body.encode().decode())  # `Markup` would escape again what is taken out of it
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = st.text(alphabet="<>&\"'/=! -a男b;#x3C", max_size=40) | st.sampled_from(
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table><b>", "&lt;b&gt;", "<!-- "]
)


@given(
    names=st.lists(HOSTILE, min_size=2, max_size=2), cells=st.lists(HOSTILE, min_size=4, max_size=4), caption=HOSTILE
)
def test_text_of_a_table_is_escaped(names: list[str], cells: list[str], caption: str) -> None:
    """Headings, cells, captions, hints and data attributes stay text with any content."""
    rows = [(cells[0], span(cells[1], "soft", title=cells[2])), (joined([cells[3], below(cells[0])]), cells[1])]
    result = Tags(table([names[0], Column(names[1], "number")], rows, caption=caption))
    body = ["tbody", "tr", "td", "td", "span", "tr", "td", *(["div"] if cells[0] else []), "td"]
    heads = ["th" if name else "td" for name in names]  # a heading without text is a fault of accessibility
    assert result.names == ["div", "table", *(["caption"] if caption else []), "thead", "tr", *heads, *body]
    assert result.attributes <= {"class", "tabindex", "scope", "data-label", "title"}
    shown = [caption, *names, cells[0], cells[1], cells[3], cells[0], cells[1]]
    assert result.text == "".join(shown)


@given(text=HOSTILE, note=HOSTILE, who=HOSTILE, code=HOSTILE)
def test_text_of_an_item_card_is_escaped(text: str, note: str, who: str, code: str) -> None:
    word = (0, len(text) // 2)
    one = judgement(who, code, {}, [note], note)
    result = Tags(item_card(who, with_keyword(text, word, "male"), [one], about=note, context=note))
    assert set(result.names) <= {"article", "div", "mark", "small", "ul", "li"}
    assert result.attributes <= {"class", "data-item"}
    assert text[word[1] :] in result.text and who in result.text


def test_table_kinds_are_not_other_css_classes() -> None:
    """`.cards` was both, a grid and a kind of table: the table became a grid."""
    kinds = set(re.findall(r"\.table\.([a-z]+)", sheet()))
    alone = set(re.findall(r"(?m)^\s*\.([a-z]+)\s*\{", sheet()))
    assert {"stacked", "pinned"} <= kinds and {"cards", "tiles"} <= alone
    assert not kinds & alone


def test_the_style_sheet_supports_both_themes() -> None:
    """Every variable that a rule uses is a colour of the palettes; without a theme of its own none would follow.

    Except the words of a place for files, which pages/ui/uploads.py sets, and the sizes and weights of type.
    """
    used = set(re.findall(r"var\((--[\w-]+)\)", sheet())) - {"--upload-button", "--upload-limit"}
    known = set(re.findall(r"(--[\w-]+):light-dark", sheet())) | set(re.findall(r"(--[\w-]+): \d", sheet()))
    assert used <= known and {"--male", "--female-tint", "--line"} <= used
    assert "<" not in sheet()  # it is put into a style element


@pytest.mark.parametrize("text", ["Ada\nBo Li\n", "Ada, Bo Li", "Ada，Bo Li，", " Ada、\n\n Bo Li "])
def test_names_are_split_at_lines_and_commas(text: str) -> None:
    assert names_in(text) == ["Ada", "Bo Li"]


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [
        (("0.41", "A, B"), ("0.72", "C, D"), "Kappa: from 0.41 (A, B) to 0.72 (C, D)."),
        (("0.72", "A, B"), ("0.72", "A, B"), "Kappa: 0.72 (A, B)."),
        (("0.72", "A, B"), ("0.72", "C, D"), "Kappa: 0.72 throughout."),
    ],
)
def test_a_range_of_equal_values_is_one_value(low: tuple[str, str], high: tuple[str, str], says: str) -> None:
    assert from_to("Kappa", low, high) == says


def test_the_minimum_detectable_difference_of_shares_is_in_points() -> None:
    result = equivalence(Estimate(0.06, -0.06, 0.18, se=0.063), 0.05)
    assert shown_from(result, SIZE_IN_POINTS) == "minimum detectable difference: 17.2 points"
    assert shown_from(result) == "minimum detectable difference: 0.172"


@pytest.mark.parametrize(
    ("lang", "value", "ends", "size"),
    [("en", "+6.0 points", "−1.2 – +13.2", "6.0 points"), ("zh", "+6.0 个百分点", "−1.2 – +13.2", "6.0 个百分点")],
)
def test_a_difference_of_shares_is_in_points(
    lang: str, value: str, ends: str, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.pages.ui.text.language", lambda: lang)
    monkeypatch.setattr("evenhand.pages.ui.numbers.language", lambda: lang)
    estimate = Estimate(0.06, -0.012, 0.132)
    assert (number(0.06, POINTS), interval(estimate, POINTS), number(0.06, SIZE_IN_POINTS)) == (value, ends, size)
    assert bracketed(estimate, POINTS) == "[−1.2, +13.2]" and number(None, POINTS) == DASH
    assert number(-0.0001, POINTS).startswith("+0.0")


def test_differences_of_shares_are_not_written_in_percent() -> None:
    """A share has no sign, so a signed format with % is a difference."""
    signed = re.compile(r"""\+z?\.\d%["'}]""")
    files = [path for layer in ("pages", "commands", "core", "annotations") for path in Path(layer).rglob("*.py")]
    assert [str(path) for path in files if signed.search(path.read_text(encoding="utf-8"))] == []


def _views_page() -> None:
    import streamlit as st

    from evenhand.pages.ui.results import choose_selection, open_view, select, selected, show_chip, show_method

    with open_view({"first": "One", "second": "Two"}) as view:
        st.text(view)
        choose_selection("Show", {"a": "A cell", "b": "B cell"}, "cell", index=None)
        if selected("cell"):
            show_chip("the *cell*", "cell", "more")
        if st.button("both", key="both"):
            select("more", "x")
    show_method("how", signature="made|v1")


def test_views_are_in_the_address_and_only_the_open_one_is_drawn() -> None:
    app = without_exception(AppTest.from_function(_views_page).run())
    assert [text.value for text in app.text] == ["first"] and _in_address(app, "view") == "first"
    app.query_params["view"] = "second"
    assert [text.value for text in app.run().text] == ["second"]
    app.session_state["view"] = "One"
    assert [text.value for text in app.run().text] == ["first"] and _in_address(app, "view") == "first"
    app.query_params["view"] = "nothing"
    assert [text.value for text in without_exception(app.run()).text] == ["first"]


def test_a_selection_is_in_the_address_and_its_chip_removes_it() -> None:
    app = AppTest.from_function(_views_page)
    app.query_params["cell"] = "b"
    app.run().button(key="both").click().run()
    assert app.selectbox(key="select-cell").value == "b" and _in_address(app, "more") == "x"
    app.selectbox(key="select-cell").set_value("a").run()
    assert _in_address(app, "cell") == "a" and app.button(key="chip-cell").label == "the \\*cell\\*"
    app.button(key="chip-cell").click().run()
    assert "cell" not in app.query_params and "more" not in app.query_params
    assert app.selectbox(key="select-cell").value is None and not [b for b in app.button if b.key == "chip-cell"]
    assert [code.value for code in app.code] == ["made|v1"]


def _in_address(app: AppTest, name: str) -> str:
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]
