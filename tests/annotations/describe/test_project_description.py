"""Data set statistics, from items to numbers: the module, the command `describe` and the page."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.describe.file_description import describe_file
from evenhand.annotations.describe.project_description import (
    describe_items,
    describe_project,
    usual_items,
    usual_vocabulary,
)
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import create_project, set_quotas
from evenhand.annotations.types import Project
from evenhand.core.describe.vocabulary import vocabulary
from evenhand.core.errors import BadFile, EvenhandError, NotFound
from evenhand.core.language import Language
from evenhand.core.text.keywords import find
from tests.support.agreed_labels import label, make, texts
from tests.support.pages import MAIN, html_of, open_page

pytestmark = pytest.mark.early


def labelled_project(store: Store) -> Project:
    """Make twenty items of two pairs; both annotators accept the first six and reject the next four."""
    project = make(store, 20, ("Ada", "Bo"), per_item=2)
    first = texts(store, project)[:10]
    for name in ("Ada", "Bo"):
        label(store, project, name, {t: "accept" if i < 6 else "reject" for i, t in enumerate(first)})
    return project


def test_a_description_covers_kept_items_or_all_items(fresh_store: Store) -> None:
    project = labelled_project(fresh_store)
    some, everything = describe_items(fresh_store, project), describe_items(fresh_store, project, items="all")
    assert (some.items, some.sentences, everything.sentences) == ("accepted", 6, 20)
    assert some.signature != everything.signature and "items:accepted" in some.signature
    cells = {(row.word, row.before, row.decided, row.after) for row in some.keywords}
    # Words in turn 他 她 爸爸 妈妈: of the first ten 3, 3, 2, 2 were decided, of the first six 2, 2, 1, 1 kept.
    assert cells == {("他", 5, 3, 2), ("她", 5, 3, 2), ("爸爸", 5, 2, 1), ("妈妈", 5, 2, 1)}
    assert everything.keywords == some.keywords  # before and after do not hang on what is looked at
    assert [(balance.male, balance.female) for balance in some.balances] == [(2, 2), (1, 1)]
    assert [(balance.male, balance.female) for balance in everything.balances] == [(5, 5), (5, 5)]


def test_p_is_undefined_when_quotas_fix_the_balance(fresh_store: Store) -> None:
    project = labelled_project(fresh_store)
    set_quotas(fresh_store, project, {("他/她", "male"): 2, ("他/她", "female"): 2, ("爸爸/妈妈", "male"): 1})
    fixed, free = describe_project(fresh_store, project)["balance"]
    assert (fixed["pair"], fixed["p"], fixed["p_holm"]) == ("他/她", None, None)
    assert (
        "Both quotas of the pair are met: they determine how many sentences of each word are accepted"
        in fixed["p_reason"]
        and free["p"] == 1
    )
    assert fixed["male_share"]["low"] is None and free["male_share"]["low"] is not None
    set_quotas(fresh_store, project, {("他/她", "male"): 9, ("他/她", "female"): 2})
    unmet = next(row for row in describe_project(fresh_store, project)["balance"] if row["pair"] == "他/她")
    assert unmet["p"] == 1 and unmet["male_share"]["low"] is not None
    everything = describe_items(fresh_store, project, items="all")  # quotas do not decide what was imported
    assert all(balance.p is not None for balance in everything.balances)


def test_an_unlabelled_set_is_described_as_a_whole(fresh_store: Store) -> None:
    project = make(fresh_store, 4)
    assert usual_items(fresh_store, project) == "all"
    result = describe_project(fresh_store, project, accepted=None)
    assert (result["items"], result["sentences"]) == ("all", 4)
    none = describe_project(fresh_store, project)
    assert none["sentences"] == 0 and none["length"]["median"] is None and none["length"]["median_reason"]


def test_sources_and_dates_come_from_extra_columns(fresh_store: Store) -> None:
    project = create_project(fresh_store, "made", annotators=("Ada",))
    extras: tuple[dict[str, object], ...] = (
        {"source": {"file": "/srv/corpus/2018/a.txt", "name": None, "date": "2018-03-01"}},
        {"source": "Evening news", "date": "2019年4月"},
        {"来源": "C:\\texts\\b.txt"},
        {},
    )
    with Batch.begin(fresh_store, project, "own.csv") as batch:
        sentences = [f"他走了{n}里路。" for n in range(4)]
        batch.add(
            NewItem(text, find(text)[0], "own.csv", n, extra)
            for n, (text, extra) in enumerate(zip(sentences, extras, strict=True), 2)
        )
        batch.publish()
    result = describe_project(fresh_store, project, accepted=False)
    assert {row["source"] for row in result["sources"]["commonest"]} == {
        "2018/a.txt",
        "Evening news",
        "texts/b.txt",
        "own.csv",
    }
    assert result["dates"]["by_month"] == {"2018-03": 1, "2019-04": 1} and result["dates"]["undated"] == 2


def test_unpublished_items_are_not_described(fresh_store: Store) -> None:
    project = make(fresh_store, 4)
    batch = Batch.begin(fresh_store, project, "later.txt")
    text = "她在等车。"
    batch.add([NewItem(text, find(text)[0], "later.txt", 1)])
    assert describe_items(fresh_store, project).sentences == 4
    batch.discard()


def test_generations_have_words_and_repetition(fresh_store: Store) -> None:
    project = create_project(fresh_store, "gen", kind="generations", language="en", annotators=("Ada",))
    with Batch.begin(fresh_store, project, "g.jsonl") as batch:
        rows = [("Kim is", " here and here and here and here."), ("Lee is", " late.")]
        batch.add(
            NewItem(text, None, "g.jsonl", n, context=context, key=f"{n}", stratum="made / she")
            for n, (context, text) in enumerate(rows, 1)
        )
        batch.publish()
    result = describe_project(fresh_store, project, accepted=False)
    # Tokens by hand: here and here and here and here . (8) and late . (2); different ones: here, and, late, full stop.
    wrote = result["writing"]
    assert (wrote["tokens"]["total"], wrote["tokens"]["distinct"]) == (10, 4)
    assert wrote["distinct_share_within_a_text"] == pytest.approx((3 / 8 + 2 / 2) / 2)
    assert wrote["repetitiveness_completion"]["texts"] == 1 and wrote["repetitiveness_completion"]["mean"] > 0
    assert result["balance"] == [] and result["largest_imbalance"] is None
    assert result["largest_imbalance_reason"] == "No sentence in this data set has a keyword."
    # A label that counts is not a kept text: 2 of 2 would be 100% kept.
    shares = [row["kept_share"] for row in result["keywords"]]
    assert shares and all(
        share["value"] is None and "not accepted or rejected" in share["value_reason"] for share in shares
    )


def test_the_vocabulary_fits_the_language() -> None:
    assert (usual_vocabulary("zh"), usual_vocabulary("en"), usual_vocabulary("ja")) == ("demo-zh", "demo-en", "demo-zh")


# --- files


def test_files_count_every_row(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("sentence,date\n他在唱歌。,2020\n没有关键词。,\n他和她都来了。,2021-02\n", encoding="utf-8")
    result = describe_file(file)
    assert (result.sentences, result.without_keyword) == (3, 2)
    assert (result.origins.earliest, result.origins.latest) == ("2020", "2021-02")
    twice = tmp_path / "twice.csv"
    twice.write_text("sentence\n她来了。\n他在唱歌。\n她来了。\n", encoding="utf-8")
    assert describe_file(twice).exact.places == (("2", "4"),)
    before = tmp_path / "before.csv"
    before.write_text("sentence\n" + "".join(f"他唱了{n}首歌。\n" for n in range(8)), encoding="utf-8")
    ((keyword_),) = describe_file(file, before=before).keywords
    assert (keyword_.before, keyword_.after, keyword_.share.value) == (8, 1, 0.125)


def test_a_file_without_texts_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "own.csv"
    empty.write_text("sentence\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"own\.csv has no text"):
        describe_file(empty)


# --- the command


def run(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(cli, ["describe", *arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")))


def test_command_prints_the_numbers_of_the_function(fresh_store: Store, tmp_path: Path) -> None:
    project = labelled_project(fresh_store)
    result = run("made", "--model", "demo-zh", "--db", str(fresh_store.path), "--latex", str(tmp_path / "t.tex"))
    quantities = result.pop("quantities")
    assert result == json.loads(json.dumps(describe_project(fresh_store, project, "demo-zh")))
    assert quantities["texts.number.accepted"]["value"] == result["sentences"]
    assert run("made", "--items", "all", "--db", str(fresh_store.path))["sentences"] == 20
    assert "\\toprule" in (tmp_path / "t.tex").read_text(encoding="utf-8")
    text = CliRunner().invoke(cli, ["describe", "made", "--db", str(fresh_store.path)]).stdout
    assert "made: 6 texts (accepted)" in text and "vocabulary —" in text and "nan" not in text


@pytest.mark.parametrize(
    "arguments", [[], ["made", "--file", "x.csv"], ["made", "--before", "x.csv"], ["--file", "x.csv", "--items", "all"]]
)
def test_command_refuses_contradictory_options(fresh_store: Store, arguments: list[str]) -> None:
    result = CliRunner().invoke(cli, ["describe", *arguments, "--db", str(fresh_store.path)])
    assert isinstance(result.exception, EvenhandError) or result.exit_code == 2


def test_command_works_without_the_vocabulary(fresh_store: Store) -> None:
    make(fresh_store, 4)
    result = CliRunner().invoke(cli, ["describe", "made", "--model", "no/model", "--db", str(fresh_store.path)])
    assert isinstance(result.exception, NotFound) or "not on this machine" in result.output


# --- the page


def test_page_explains_missing_projects_and_items(fresh_store: Store) -> None:
    assert "no projects yet" in open_page("describe").info[0].value
    create_project(fresh_store, "made", annotators=("Ada",))
    assert "no items yet" in open_page("describe").info[0].value


@pytest.mark.parametrize("language", ["en", "zh"])
def test_page_shows_the_numbers(
    fresh_store: Store, language: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    project = labelled_project(fresh_store)
    page = open_page("describe", language, view="vocabulary")
    result = describe_items(fresh_store, project, words=vocabulary("demo-zh"))
    values = [metric.value for metric in page.metric]
    assert values[:2] == ["6", str(result.characters.distinct)]
    assert result.signature in [code.value for code in page.code]
    page.segmented_control(key=f"items-{project.uid}").set_value("all").run()
    assert not page.exception and page.metric[0].value == "20"
    page.selectbox(key="vocabulary-demo-zh").set_value(None).run()
    assert not page.exception and page.metric[3].value == "—"
    page.selectbox(key="vocabulary-demo-zh").set_value("bert-base-chinese").run()
    assert not page.exception and "bert" in page.error[0].value


def test_page_counts_many_texts_when_asked(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.pages.describe.source.MANY", 5)
    project = labelled_project(fresh_store)  # six are kept
    page = open_page("describe", view="vocabulary")
    assert not page.metric and any("Press the button to start" in caption.value for caption in page.caption)
    page.button(key=f"count-{project.uid}").click().run()
    assert not page.exception and page.metric[0].value == "6"
    label(fresh_store, project, "Ada", {texts(fresh_store, project)[10]: "accept"})
    page.run()
    assert page.metric[0].value == "6" and any(
        "have changed since this was counted" in caption.value for caption in page.caption
    )


def test_page_describes_an_uploaded_file(fresh_store: Store) -> None:
    hostile = "<b>x</b> :red[y].csv"
    page = open_page("describe", view="vocabulary")
    page.segmented_control(key="described").set_value("file").run()
    assert not page.exception and not page.metric
    page.file_uploader(key="described-file").set_value(
        (hostile, "句子\n他在唱歌。\n她在唱歌。\n".encode(), "text/csv")
    ).run()
    assert not page.exception, page.exception
    assert page.metric[0].value == "2"
    assert not any(":red[" in caption.value for caption in page.caption)
    assert not page.error
    assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone() == (0,)


def test_the_document_shows_what_the_command_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = (MAIN.parents[1] / "docs" / "describe.md").read_text(encoding="utf-8")
    block = document.split("```console\n$ cat own.csv\n")[1].split("```")[0]
    file, shown = block.split("$ python cli.py describe --file own.csv --model demo-zh\n")
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(file, encoding="utf-8")
    done = CliRunner().invoke(cli, ["describe", "--file", "own.csv", "--model", "demo-zh"], catch_exceptions=False)
    assert done.stdout == shown


def test_page_describes_generations(fresh_store: Store) -> None:
    project = create_project(fresh_store, "gen", kind="generations", language="en", annotators=("Ada",))
    with Batch.begin(fresh_store, project, "g.jsonl") as batch:
        text = " here and here and here."
        batch.add([NewItem(text, None, "g.jsonl", 1, context="Kim is", key="1", stratum="made / she")])
        batch.publish()
    page = open_page("describe", view="writing")
    shown = {metric.label: metric.value for metric in page.metric}
    assert shown["Tokens, median"] == "6" and shown["Repetitiveness"] != "—"
    assert "1 texts with a median length" in html_of(page)
    titles = [tab.label for tab in page.tabs]
    assert "Texts per cell" in titles and "Balance of the two words" not in titles
    assert text not in str([element.value for element in page.caption])  # texts of generations stay inside
