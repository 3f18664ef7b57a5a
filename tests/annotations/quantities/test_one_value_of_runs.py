"""A number of a run is the same on its page and in its command, and equal to a recount of the file that it wrote.

The recounts read the table with `csv` and compute with plain Python; they share no code with the app.
"""

import csv
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import hypot, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS, Unit
from evenhand.core.language import share_text, significant
from evenhand.core.models.measure_readers import VectorReader
from evenhand.core.resources import table
from evenhand.core.runs.records import runs_folder
from tests.support.audits import NUMBERS, judge, scores
from tests.support.pages import html_of, open_page, quantities_of, without_errors
from tests.support.recount import exported_package, lines_of
from tests.support.terminal import answered

pytestmark = pytest.mark.usefixtures("nothing_runs")
MARKED = re.compile(r'data-quantity="(run\.[^"]+)">([^<]*)<')
Stated = Mapping[str, Any]
Recounted = dict[str, float | None]


def marked(page: AppTest) -> dict[str, str]:
    """Return the numbers of the tables of a page, by id and row."""
    return {html.unescape(name): html.unescape(text) for name, text in MARKED.findall(html_of(without_errors(page)))}


def printed(value: float | None, unit: Unit) -> str:
    if value is None:
        return "—"
    if unit in ("share", "fine_share"):
        return share_text(value)
    if unit == "points":
        return f"{100 * value:+z.2f}".replace("-", "−")
    return significant(value) if unit == "p" else f"{value:{FORMS[unit]}}".replace("-", "−")


def check_page(found: Mapping[str, str], stated: Stated, least: Iterable[str]) -> None:
    """Check that every number of a page is that of the command; *least*: ids that the page has to show."""
    assert set(least) <= {name.partition(":")[0] for name in found}
    wrong = {
        name: (text, stated[name]["value"])
        for name, text in found.items()
        if re.split(r" [\[(]", text)[0].lstrip("+")
        != printed(stated[name]["value"], ENTRIES[name.partition(":")[0]].unit).lstrip("+")
    }
    assert not wrong


def check_recount(again: Recounted, stated: Stated) -> None:
    differ = {
        name: (value, stated[name]["value"])
        for name, value in again.items()
        if value != stated[name]["value"] and value != pytest.approx(stated[name]["value"], abs=1e-9)
    }
    assert again and not differ


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def mean_of(values: Iterable[float]) -> float | None:
    known = list(values)
    return fmean(known) if known else None


def pearson(x: list[float], y: list[float]) -> float:
    a, b = fmean(x), fmean(y)
    top = sum((one - a) * (other - b) for one, other in zip(x, y, strict=True))
    return top / sqrt(sum((one - a) ** 2 for one in x) * sum((one - b) ** 2 for one in y))


def ranks(values: list[float]) -> list[float]:
    return [sum(other < one for other in values) + (values.count(one) + 1) / 2 for one in values]


PROFESSIONS = (
    ("nurse", "female", "health", 88.9), ("secretary", "female", "office", 93.2), ("carpenter", "male", "crafts", 2.8),
    ("plumber", "male", "crafts", 2.7), ("judge", "balanced", "law", 52.5), ("photographer", "balanced", "art", 49.3),
)  # fmt: skip


@pytest.fixture
def professions(tmp_path: Path) -> Path:
    path = tmp_path / "professions.tsv"
    rows = ["\t".join(map(str, row)) for row in PROFESSIONS]
    path.write_text("\n".join(["profession\tclass\tfield\twomen", *rows]) + "\n", encoding="utf-8")
    return path


def of_associations(rows: list[dict[str, str]]) -> Recounted:
    """Count the means and differences of one model again."""
    by: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    women = {}
    for row in rows:
        women[row["profession_key"]] = float(row["women"])
        for column in ("class", "field", "profession_key"):
            by[column, row[column], row["person_gender"]].append(float(row["association"]))
    again: Recounted = {
        f"run.association.mean:{group}/{gender}": fmean(values)
        for (column, group, gender), values in by.items()
        if column == "class"
    }
    names = {"class": "difference", "field": "difference_of_field", "profession_key": "difference_of_profession"}
    leans: dict[str, float] = {}
    for column, group in {key[:2] for key in by}:
        lean = fmean(by[column, group, "male"]) - fmean(by[column, group, "female"])
        again[f"run.association.{names[column]}:{group}"] = lean
        leans |= {group: lean} if column == "profession_key" else {}
    x, y = [women[name] for name in leans], list(leans.values())
    again["run.association.share_correlation:pearson"] = pearson(x, y)
    again["run.association.share_correlation:spearman"] = pearson(ranks(x), ranks(y))
    return again


def test_associations_of_professions(fresh_store: Store, professions: Path) -> None:
    db = fresh_store.path
    told = answered("association", "--language", "en", "--model", "demo-en", "--professions", professions, "--run",
                    "one", "--threads", "1", "--db", db)  # fmt: skip
    stated = told["quantities"]["demo-en"]
    written = runs_folder(db, "associations") / "one.csv"
    check_recount(of_associations(read(written)), stated)
    assert told["quantities"] == answered("association", "--language", "en", "--scores", written)["quantities"]
    page = open_page("association", section="hypotheses")
    check_page(
        marked(page), stated, [f"run.association.{name}" for name in ("mean", "difference", "difference_of_field")]
    )
    check_page(marked(open_page("association", section="printed")), stated, ["run.association.difference"])
    shown = quantities_of(open_page("association", section="shares"))
    correlation = "run.association.share_correlation"
    assert shown == {correlation: printed(stated[f"{correlation}:spearman"]["value"], "score")}  # the later of the two


def of_pairs(rows: list[dict[str, str]], role: str) -> float | None:
    """Return the share of pairs whose first sentence has the higher score, in percent."""
    pairs = defaultdict(dict[str, float])
    for row in rows:
        if row["role"] == role:
            pairs[row["item"]][row["part"]] = float(row["score"])
    return mean_of(100.0 * (pair["more"] > pair["less"]) for pair in pairs.values())


def of_lpbs(rows: list[dict[str, str]], role: str) -> float | None:
    own = [row for row in rows if row["role"] == role]
    sides = [fmean(float(row["score"]) for row in own if row["part"] == side) for side in ("female", "male")]
    return sides[0] - sides[1]


def of_stereoset(rows: list[dict[str, str]], role: str) -> Recounted:
    """Return lms, ss and icat of items that all have targets of their own."""
    items = defaultdict(dict[str, float])
    for row in rows:
        if row["role"] == role:
            items[row["item"]][row["part"]] = float(row["score"])
    lms = fmean(
        50.0 * sum(item[one] > item["unrelated"] for one in ("stereotype", "anti-stereotype"))
        for item in items.values()
    )
    ss = fmean(100.0 * (item["stereotype"] > item["anti-stereotype"]) for item in items.values())
    values = {"lms": lms, "ss": ss, "icat": lms * min(ss, 100 - ss) / 50}
    return {f"run.stereoset.{name}:{role}": value for name, value in values.items()}


def of_twins(rows: list[dict[str, str]], role: str) -> Recounted:
    right = {
        part: fmean(100.0 * (float(row["score"]) > 0) for row in rows if (row["role"], row["part"]) == (role, part))
        for part in ("pro", "anti")
    }
    values = right | {"gap": right["pro"] - right["anti"]}
    return {f"run.pro_anti.{name}:{role}": value for name, value in values.items()}


CROWS = (
    "sent_more,sent_less\n他是医生。,她是医生。\n爸爸很好。,妈妈很好。\n男孩在家。,女孩在家。\n先生来了。,女士来了。\n"
)
STEREOSET = [
    {"target": target, "context": f"BLANK 是 {target}。", "data": {
        label: {"id": f"{target}-{label}", "sentence": f"{word} 是 {target}。"}
        for label, word in zip(("stereotype", "anti-stereotype", "unrelated"), words, strict=True)}}
    for target, words in (("医生", "他她山"), ("老师", "她他水"), ("司机", "他她天"))
]  # fmt: skip
TWINS = """pro\tanti
[The nurse] said that [she] met the carpenter.\t[The nurse] said that [he] met the carpenter.
The nurse said that [the carpenter] lost [his] key.\tThe nurse said that [the carpenter] lost [her] key.
"""
MEASURES = {
    "crows": ("demo-zh", CROWS, ("--language", "zh")),
    "aul": ("demo-zh", CROWS, ("--language", "zh")),
    "stereoset": ("demo-zh", json.dumps(STEREOSET, ensure_ascii=False), ("--language", "zh")),
    "pro-anti": ("demo-en", TWINS, ()),
    "lpbs": ("demo-en", "", ("--language", "en")),
    "weat": ("demo-en", "", ("--test", "career", "--test", "science")),
}


@pytest.mark.parametrize("measure", [*(name for name in MEASURES if name != "lpbs"),
                                     pytest.param("lpbs", marks=pytest.mark.long)])  # fmt: skip
def test_other_measures(fresh_store: Store, tmp_path: Path, measure: str) -> None:
    model, text, more = MEASURES[measure]
    file = tmp_path / {"stereoset": "s.json", "pro-anti": "t.tsv"}.get(measure, "c.csv")
    file.write_text(text, encoding="utf-8")
    own = ("--set", file) if text else ()
    told = answered("other-measures", measure, "--model", model, *own, *more, "--device", "cpu", "--run", "one", "--db",
                    fresh_store.path)  # fmt: skip
    stated = told["quantities"][model]
    rows = read(runs_folder(fresh_store.path, "measures") / "one.csv")
    again: Recounted = {}
    for role in {row["role"] for row in rows} - {"control"}:
        if measure in ("crows", "aul"):
            again[f"run.{measure}.share:{role}"] = of_pairs(rows, role)
        elif measure == "lpbs":
            again[f"run.lpbs.difference:all/{role}"] = of_lpbs(rows, role)
        elif measure == "weat":
            again |= of_weat(rows, role)
        else:
            again |= (of_stereoset if measure == "stereoset" else of_twins)(rows, role)
    check_recount(again, stated)
    found = marked(open_page("other_measures"))
    check_page(found, stated, {name.partition(":")[0] for name in stated})
    assert found.keys() == stated.keys()


def of_weat(rows: list[dict[str, str]], role: str) -> Recounted:
    """Return effect and p of each test from the embeddings, by all partitions; the table has the same effect."""
    sets = {row["set"]: row["words"].split() for row in table("weat_words")}
    own = [row for row in rows if row["part"] == role]
    again: Recounted = {}
    for name, row in zip(("career", "science"), own, strict=True):
        x, y, a, b = (sets[one] for one in row["text"].split(","))
        vectors = VectorReader("demo-en", device="cpu", untrained=role == "untrained").words([*x, *y, *a, *b])
        known = [[vectors[word].tolist() for word in words if word in vectors] for words in (x, y, a, b)]
        leans = [
            [fmean(cosine(v, one) for one in known[2]) - fmean(cosine(v, one) for one in known[3]) for v in part]
            for part in known[:2]
        ]
        both = leans[0] + leans[1]
        effect = (fmean(leans[0]) - fmean(leans[1])) / stdev(both)
        assert effect == pytest.approx(float(row["score"]), abs=1e-9)
        reached = [sum(part) >= sum(leans[0]) - 1e-9 for part in combinations(both, len(leans[0]))]
        again |= {f"run.weat.effect:{name}/{role}": effect, f"run.weat.p:{name}/{role}": fmean(reached)}
    return again


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / (hypot(*one) * hypot(*other))


def test_crows_alone_has_the_interval_of_the_run(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text(CROWS, encoding="utf-8")
    for variant, measure in (("changed", "crows"), ("aul", "aul")):
        more = ("--variant", variant) if measure == "crows" else ()
        told = answered("other-measures", measure, "--model", "demo-zh", "--set", file, *more, "--language", "zh",
                        "--no-untrained", "--device", "cpu", "--db", tmp_path / "a.db")  # fmt: skip
        alone = answered("crows", file, "--model", "demo-zh", "--variant", variant, "--device", "cpu")["quantities"]
        name = f"run.{measure}.share:model"
        assert alone == {name: told["quantities"]["demo-zh"][name]} and alone[name]["low"] is not None


SENTENCES = "".join(
    f"今天{word}在家看书{'，很好' * i}。\n" for word in ("他", "她", "男孩", "女孩", "爸爸", "妈妈") for i in range(3)
)


def test_a_model_before_and_after(fresh_store: Store, tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text(SENTENCES, encoding="utf-8")
    (tmp_path / "held.txt").write_text("雨停了，他走了。\n男孩在家。\n老师说她好。\n" * 3, encoding="utf-8")
    told = answered("before-after", tmp_path / "items.txt", "--before", "demo-zh", "--after", "planted:+1", "--placebo",
                    "random-zh", "--text", tmp_path / "held.txt", "--run", "one", "--no-cache", "--db",
                    fresh_store.path)  # fmt: skip
    stated = told["quantities"]
    rows = [
        {name: float(row[name]) for name in ("before", "after_1", "placebo_1")}
        for row in read(runs_folder(fresh_store.path, "comparisons") / "one.csv")
    ]
    again: Recounted = {"run.change.effect:all": fmean(abs(row["after_1"]) - abs(row["placebo_1"]) for row in rows)}
    for column, key in (("after_1", "after/planted:+1"), ("placebo_1", "placebo/random-zh")):
        before, after = fmean(abs(row["before"]) for row in rows), fmean(abs(row[column]) for row in rows)
        again |= {f"run.change.magnitude_before:{key}": before, f"run.change.magnitude_after:{key}": after,
                  f"run.change.magnitude:{key}": after - before,
                  f"run.change.shift:{key}": fmean(row[column] - row["before"] for row in rows)}  # fmt: skip
    check_recount(again, stated)
    names = ("effect", "magnitude", "shift", "loss", "accuracy")
    check_page(marked(open_page("before_after")), stated, [f"run.change.{name}" for name in names])


def test_two_finished_runs(fresh_store: Store, professions: Path) -> None:
    db, values = fresh_store.path, {}
    for model in ("demo-en", "random-zh"):
        answered("association", "--language", "en", "--model", model, "--professions", professions, "--run", model,
                 "--threads", "1", "--db", db)  # fmt: skip
        rows = read(runs_folder(db, "associations") / f"{model}.csv")
        values[model] = {(row["sentence"], row["person_key"], row["profession_key"]): row for row in rows}
    told = answered("before-after-runs", "associations", "demo-en", "random-zh", "--db", db)
    first, second = values["demo-en"], values["random-zh"]
    shared = [key for key in first if second.get(key, {}).get("association") and first[key]["association"]]
    sides = [[float(side[key]["association"]) for key in shared] for side in (first, second)]
    sizes = [fmean(map(abs, side)) for side in sides]
    label = " · ".join(told["measures"][0]["label"])
    again = dict(zip(("before", "after", "change"), (*sizes, sizes[1] - sizes[0]), strict=True))
    check_recount({f"run.compared.associations.{name}:{label}": one for name, one in again.items()}, told["quantities"])
    page = open_page("before_after", compare="runs", kind="associations")
    page.selectbox(key="ba-run-before").set_value("demo-en · demo-en")
    page.multiselect(key="ba-run-after").set_value(["random-zh · random-zh"]).run()
    check_page(marked(page), told["quantities"], [f"run.compared.associations.{name}" for name in again])


def of_leaks(rows: list[dict[str, Any]], rule: str, toward: str) -> Recounted:
    """Return the shares of leaks of an audit, from its labels."""
    shares: Recounted = {}
    for stratum, name in (("extreme", "extremes"), ("control", "controls")):
        own = [row["leaks"] for row in rows if row["stratum"] == stratum and toward in ("both", row["toward"])]
        verdicts = own if rule == "label" else [[(all if rule == "unanimous" else any)(leaks)] for leaks in own]
        shares[f"run.leaks.{name}:{rule}/{toward}"] = mean_of(float(leak) for leaks in verdicts for leak in leaks)
    return shares


def test_leaks_of_an_audit(fresh_store: Store, tmp_path: Path) -> None:
    file, db = tmp_path / "scores.csv", fresh_store.path
    scores(NUMBERS).to_csv(file, index=False)
    answered("audit", "send", file, "leaks", "--n", "3", "--annotators", "Ada,Bo", "--per-item", "2", "--db", db)
    made = find_project(fresh_store, "leaks")
    judge(fresh_store, made, lambda text, who: "爸爸" in text or ("第3" in text and who == "Ada"), people=("Ada", "Bo"))
    stated = answered("audit", "result", "leaks", "--db", db)["quantities"]
    answered("export", "leaks", tmp_path / "items.jsonl", "--format", "jsonl", "--db", db)
    labels = defaultdict(list[bool])
    for (item, _who), label in exported_package(made, tmp_path / "out").blind().items():
        labels[item].append(label["choice"] == "reject")
    rows = [
        json.loads(item["audit"]) | {"leaks": labels[item["item"]]} if isinstance(item["audit"], str) else
        item["audit"] | {"leaks": labels[item["item"]]}
        for item in lines_of((tmp_path / "items.jsonl").read_text(encoding="utf-8"))
    ]  # fmt: skip
    again: Recounted = {}
    for rule in ("unanimous", "any", "label"):
        for toward in ("both", "male", "female"):
            again |= of_leaks(rows, rule, toward)
    kept = [row["bias_log10"] for row in rows if row["stratum"] == "extreme" and not all(row["leaks"])]
    man, woman = (mean_of(abs(one) for one in kept if sign * one > 0) for sign in (1, -1))
    again |= {"run.leaks.bias_man:unanimous/extreme/kept": man, "run.leaks.bias_woman:unanimous/extreme/kept": woman}
    check_recount(again, stated)


@pytest.mark.parametrize("method", ["training", "inlp"])
def test_a_tuned_model(fresh_store: Store, tmp_path: Path, method: str) -> None:
    texts = tmp_path / "texts.txt"
    lines = [f"{word}来了{'，很好' * (i % 7)}{'。' * (i % 5 + 1)}\n" for i in range(30) for word in ("他", "女孩")]
    texts.write_text("".join(lines), encoding="utf-8")
    told = answered("tune", "planted:+1", texts, "--method", method, "--language", "zh", "--steps", "4", "--batch", "4",
                    "--rate", "0.01", "--every", "2", "--held-out", "0.2", "--device", "cpu", "--run", "one", "--db",
                    fresh_store.path)  # fmt: skip
    stated = told["quantities"]
    folder = runs_folder(fresh_store.path, "tunes")
    card = (folder / "one" / "README.md").read_text(encoding="utf-8")
    for name, head in (("loss", "loss (-ln p of a token)"), ("accuracy", "top-1 accuracy")):
        cells = [stated[f"run.tune.{name}:{time}"]["value"] for time in ("before", "after")]
        texts_of = [f"{cell:.4f}" if name == "loss" else f"{cell:.2%}" for cell in cells]
        assert f"| {head} | {' | '.join(texts_of)} |" in card
    if method == "training":
        curve = read(folder / "one.csv")
        best = min(curve, key=lambda point: float(point["held_out_loss"]))
        again = {f"run.tune.{name}:after": float(best[f"held_out_{name}"]) for name in ("loss", "accuracy")}
        check_recount(again, stated)
    found = marked(open_page("tune"))
    assert found.keys() == stated.keys() and ("run.tune.probe:after" in found) == (method == "inlp")
    check_page(found, stated, ())
