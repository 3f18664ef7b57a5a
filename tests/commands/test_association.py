"""The command association: corpus, models, tables, measures, and the messages for wrong input."""

import json
import math
import re

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.core.association.measures import read_associations
from evenhand.core.association.run import COLUMNS
from evenhand.core.errors import BadFile, EvenhandError, Refused
from evenhand.core.resources import read_table
from evenhand.core.runs.records import runs_in

LISTS = {
    "templates": "template\n{person} is a {profession}.\n",
    "persons": "person\tgender\tdeterminer\tpair\nhe\tmale\t\ta\nbrother\tmale\tmy\tb\nshe\tfemale\t\ta\n"
    "sister\tfemale\tmy\tb\nmother\tneutral\tmy\t\n",
    "professions": "profession\tclass\tfield\twomen\nnurse\tfemale\thealth\t88.9\ncarpenter\tmale\tcrafts\t2.8\n"
    "judge\tbalanced\tlaw\t52.5\n",
}
MODEL = "planted:association=0.8"


@pytest.fixture
def lists(tmp_path):
    """Return own lists of words known to the planted model, as options of the command."""
    options = []
    for part, text in LISTS.items():
        path = tmp_path / f"{part}.tsv"
        path.write_text(text, encoding="utf-8")
        options += [f"--{part}", str(path)]
    return options


def run(*arguments):
    done = CliRunner().invoke(cli, ["association", "--threads", "1", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize("language", ["en", "es", "es-noart", "eu"])
def test_a_corpus_needs_no_model(tmp_path, language):
    out = tmp_path / "corpus.tsv"
    data = json.loads(run("--language", language, "--corpus", out, "--json").stdout)
    assert data["sentences"] == 5400
    rows = read_table(out)
    assert list(rows[0]) == [
        "sentence",
        "tm",
        "am",
        "tam",
        "person",
        "profession",
        "person_gender",
        "class",
        "template",
    ]
    assert len(rows) == 5400
    assert {row["class"] for row in rows} == {"male", "female", "balanced"}
    assert {row["template"] for row in rows} == {"1", "2", "3", "4", "5"}
    assert all(row["tm"].count("[MASK]") == 1 for row in rows)


def test_a_model_is_measured(tmp_path, lists):
    out = tmp_path / "scores.csv"
    done = run("--language", "en", *lists, "--model", MODEL, "--out", out, "--margin", 1, "--resamples", 200, "--json")
    data = json.loads(done.stdout)
    model = data["models"][MODEL]
    assert (data["sentences"], model["probes"], model["rows"], model["scored"]) == (15, 30, 15, 15)
    assert model["passes"] + model["passes_saved"] == 30
    assert model["signature"].startswith("target|planted:association=0.8|weights:")
    means = {(row["class"], row["gender"]): row["mean"] for row in model["groups"]}
    assert means["female", "female"] > 0 > means["male", "female"]
    assert ("female", "neutral") in means
    results = {row["name"]: row["m_minus_w"]["value"] for row in model["differences"]}
    assert results["female"] < 0 < results["male"]
    against = [row["equivalence"] for row in model["differences"]]
    assert all(row["margin"] == 1 and row["smallest_shown"] > 0 and row["answer"] for row in against)
    assert all(row["equivalence"]["margin"] == 1 for row in model["professions"])
    h3 = next(row for row in model["hypotheses"] if row["name"] == "H3")
    assert h3["equivalence"]["answer"] == h3["verdict"]
    assert [(row["name"], row["reading"]) for row in model["hypotheses"]] == [
        ("H1", "literal"), ("H1", "relative"), ("H2", "literal"), ("H2", "relative"), ("H3", "literal"),
    ]  # fmt: skip
    assert {row["name"] for row in model["fields"]} == {"health", "crafts", "law"}
    assert len(data["printed"]) == 9
    again = json.loads(run("--language", "en", "--scores", out, "--margin", 1, "--resamples", 200, "--json").stdout)
    for key in ("groups", "differences", "hypotheses", "women_share", "professions"):
        assert again["models"][MODEL][key] == model[key]


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_the_table_and_its_spreadsheet_copy_can_be_read_back(tmp_path, lists, ending):
    out, copy = tmp_path / f"scores{ending}", tmp_path / "copy.csv"
    run("--language", "en", *lists, "--model", MODEL, "--out", out, "--spreadsheet", copy)
    frame = read_associations(out)
    again = read_associations(copy)
    assert again["association"].tolist() == frame["association"].tolist()
    assert again["sentence"].tolist() == frame["sentence"].tolist()
    assert copy.read_bytes().startswith(b"\xef\xbb\xbf")
    with pytest.raises(Refused, match="Give an output for the table: --out FILE or --run NAME"):  # a copy of no table
        run("--language", "en", "--corpus", tmp_path / "c.tsv", "--spreadsheet", copy)
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == 15
    for row in frame.to_dict("records"):
        assert row["association"] == pytest.approx(row["logp_target"] - row["logp_prior"])
        assert row["association"] == pytest.approx(math.log(row["p_target"] / row["p_prior"]))
    assert set(frame["person"]) == {"He", "She", "brother", "sister", "mother"}


def test_a_run_is_kept_with_its_record(tmp_path, lists):
    run("--language", "en", *lists, "--model", MODEL, "--run", "first")
    [run_] = runs_in(tmp_path / "evenhand-associations")
    assert (run_.name, run_.models, run_.sentences, run_.scored) == ("first", (MODEL,), 15, 15)
    assert run_.record["language"] == "en"
    assert run_.record["source"]["persons"] == "persons.tsv"
    assert run_.record["settings"] == {"target": "all", "attribute": "word", "precision": "fp32"}


def test_the_printed_report_names_measures_and_hypotheses(lists):
    text = run("--language", "en", *lists, "--model", MODEL).stdout
    assert re.search(r"female professions +-\d", text)
    assert "H1 (Professions dominated by one gender raise the words of that gender.), literal: holds" in text
    assert "Set a margin" in text and "minimum detectable difference " in text
    assert "Means of models with different tokenizers do not compare." in text


def test_json_has_no_nan_and_a_reason_for_every_null(tmp_path, lists):
    (tmp_path / "persons.tsv").write_text("person\tgender\nhe\tmale\n", encoding="utf-8")
    data = json.loads(run("--language", "en", *lists, "--model", MODEL, "--json").stdout)
    assert "NaN" not in json.dumps(data)

    def check(part):
        if isinstance(part, dict):
            assert not [key for key, value in part.items() if value is None and f"{key}_reason" not in part], part
        for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            check(inner)

    check(data)
    assert "one gender only" in data["models"][MODEL]["differences"][0]["m_minus_w"]["value_reason"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Nothing to do"),
        (["--scores", "x.csv", "--model", "known"], "not both"),
        (["--model", "planted:association=x"], "is not a planted model"),
        (["--model", "demo-en-none-such/model"], "demo-en-none-such/model"),
        (
            ["--model", MODEL, "--monolingual", "other", "--professions", "{professions}"],
            "other is not a model of this table. Its models:",
        ),
        (["--scores", "{professions}"], "lacks the columns"),
        (["--scores", "none.csv"], "none.csv cannot be read"),
        (["--persons", "{professions}", "--corpus", "x.tsv"], "professions.tsv lacks the column person, gender"),
    ],
)
def test_wrong_input_is_refused_with_one_sentence(tmp_path, lists, arguments, says):
    place = {"{professions}": str(tmp_path / "professions.tsv")}
    done = CliRunner().invoke(cli, ["association", "--language", "en", *(place.get(a, a) for a in arguments)])
    assert isinstance(done.exception, EvenhandError)
    assert says in str(done.exception)


def test_a_table_with_an_unknown_gender_names_its_line(tmp_path, lists):
    out = tmp_path / "scores.csv"
    run("--language", "en", *lists, "--model", MODEL, "--out", out)
    out.write_text(out.read_text().replace(",male,", ",man,", 1))
    with pytest.raises(BadFile, match=r"scores.csv, line 2: gender is 'man'"):
        read_associations(out)
