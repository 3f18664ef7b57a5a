"""Templates, slots, instances: layouts of published files, capitals, conversions, draws.

See docs/misgendering.md#templates.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from evenhand.core.errors import BadFile, Refused
from evenhand.core.misgendering.slots import Template, declared, instance_of, takes_capital
from evenhand.core.misgendering.template_files import Person, built_in, instances, read_people, read_source
from evenhand.core.text.pronouns import CASES, forms, set_named
from evenhand.core.types import MASK


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_the_built_in_set_is_valid() -> None:
    source = built_in()
    assert Counter(template.case for template in source.templates) == dict.fromkeys(CASES, 8)
    assert len({person.name for person in source.people}) == len(source.people) == 60
    for template in source.templates:
        words = {word.lower() for word in re.findall(r"\w+", re.sub(r"\{\w+\}", "", template.text))}
        assert not words & forms("own"), template.id  # a pronoun of another person would decide
        assert template.text.count(MASK) == 1
        assert "{pronouns}" in template.text.split(MASK)[0]


@pytest.mark.parametrize(
    "before, dataset, capital",
    [
        *[("Done. ", "misgendered", True), ("Done! ", "misgendered", False), ("Done, ", "misgendered", False)],
        *[("", "misgendered", False), ("Done. ", "ruff", False), ("Done. ", "own", True), ("Really?  ", "own", True)],
        *[("", "own", True), ("Done, ", "own", False), ('"Done." ', "own", True), ("Done. ", "tango", False)],
    ],
)
def test_capitals_follow_each_data_set(before: str, dataset: str, capital: bool) -> None:
    assert takes_capital(before, dataset) == capital


def test_an_instance_has_its_forms_its_probe_and_both_contexts() -> None:
    template = Template("t", "pos_dep", "{name} ({pronouns}). [MASK] hat.", "own")
    instance = instance_of(template, "Ola", ("xe",), id="1")
    assert instance.forms == ("His", "Her", "Their", "Xyr")
    assert instance.context("pre") == "Ola (xe/xem/xyrs). "
    assert instance.context("post") == "Ola (xe/xem/xyrs). Xyr hat."
    assert instance.probe.text == "Ola (xe/xem/xyrs). [MASK] hat."
    assert instance.probe.text[instance.probe.start : instance.probe.end] == MASK


def test_instances_have_several_and_further_sets() -> None:
    template = Template("t", "nom", "{name}, {pronouns}, says [MASK] sang.", "own")
    instance = instance_of(template, "Ola", ("she", "ze"), id="1", also=("fae",))
    assert instance.options == ("he", "she", "they", "xe", "fae", "ze")
    assert instance.before == "Ola, she/ze, says "
    assert declared([set_named("thon/thons")]) == "thon/thons"


@pytest.mark.parametrize(
    "text, pronouns, why",
    [
        ("{name} {foo} [MASK]", ("he",), "has a placeholder {foo} with no value; available:"),
        ("{name} {nom} [MASK]", ("he", "she"), "has several"),
        ("{name} {ref} [MASK]", ("thon/thons",), "does not have"),
    ],
)
def test_an_invalid_template_is_refused_with_a_reason(text: str, pronouns: tuple[str, ...], why: str) -> None:
    with pytest.raises(BadFile, match=why):
        instance_of(Template("t", "nom", text), "Ola", pronouns, id="1")


def test_misgendered_is_read_from_its_folder(tmp_path: Path) -> None:
    template = "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {mask_token} sang."
    write(
        tmp_path / "explicit_template_a.csv",
        f'form,template,template_id\nnom,"{template}",1\nref,"I, {{name}} {{mask_token}}.",2\n',
    )
    write(tmp_path / "explicit_template_b.csv", f'form,template,template_id\nnom,"{template}",1\n')
    write(tmp_path / "names" / "unisex.txt", "Alva\nBao\n")
    write(tmp_path / "names" / "female.txt", "Alva\nCleo\n")
    source = read_source(tmp_path)
    assert (source.dataset, [template.case for template in source.templates]) == ("misgendered", ["nom", "ref"])
    assert [person.name for person in source.people] == ["Alva", "Cleo", "Bao"]
    rows = instances(source, passes=3, seed=1)
    assert len(rows) == 2 * 3 * 4
    first = next(row for row in rows if row.pronouns == ("xe",) and row.case == "nom")
    assert first.context("post") == f"{first.name}/'s pronouns are xe/xem/xyrs. Xe sang."
    assert read_source(tmp_path / "explicit_template_a.csv").templates == source.templates


def test_ruff_is_read_with_its_rows(tmp_path: Path) -> None:
    head = "occupation\tparticipant\tsentence\tpronoun_type\tword\tpronoun\tuid\tconfuse_pronoun\n"
    rows = [
        "baker\tguest\tThe baker was tired as xe had walked. The baker took $POSS_PRONOUN hat.\tposs\txyr\txe\tu1\t",
        "pilot\tguest\tThe pilot was tired as she had walked. The pilot took $POSS_PRONOUN hat.\tposs\ther\tshe\tu2\t",
    ]
    source = read_source(write(tmp_path / "eo_task.tsv", head + "\n".join(rows)))
    first, second = source.instances
    assert (first.id, first.dataset, first.pronouns, first.case, first.name) == (
        "u1",
        "ruff",
        ("xe",),
        "pos_dep",
        "baker",
    )
    assert first.forms == ("his", "her", "their", "xyr")
    assert first.template == second.template  # the same text but for occupation and pronoun: one unit
    assert len(instances(source)) == 2
    assert [instance.id for instance in instances(source, only=("she",))] == ["u2"]


def test_tango_is_read_with_its_prompts(tmp_path: Path) -> None:
    text = "template_idx,ante,ante_type,pronoun_family,template\n3,Noor,name,xe,NOOR saw Xe ran and\n"
    text += "3,Noor,name,xe,again\n"
    prompts = read_source(write(tmp_path / "p.csv", text)).prompts
    assert [(prompt.id, prompt.text, prompt.pronouns) for prompt in prompts] == [
        ("3.Noor.xe", "Noor saw xe ran and", ("xe",)), ("3.Noor.xe.2", "Again", ("xe",)),
    ]  # fmt: skip


def test_own_templates_and_names_are_read(tmp_path: Path) -> None:
    source = read_source(write(tmp_path / "t.tsv", 'case\ttext\nacc\tI "like" [MASK], {name}.\n'))
    people = read_people(write(tmp_path / "n.tsv", "name\tpronouns\nOla\tshe; they\nMin\tze/hir\nAda\t\n"))
    assert people == (Person("Ola", ("she", "they")), Person("Min", ("ze",)), Person("Ada"))
    rows = instances(source, people=people, passes=3)
    assert sorted({";".join(row.pronouns) for row in rows}) == ["he", "she", "she;they", "they", "xe", "ze"]
    assert {row.before for row in rows} == {'I "like" '}
    assert read_people(write(tmp_path / "n.txt", "Ola\n\nMin\n")) == (Person("Ola"), Person("Min"))


@pytest.mark.parametrize(
    "name, text, why",
    [
        ("a.tsv", "case\tsentence\nnom\tx\n", "a.tsv lacks the columns text"),
        ("a.tsv", "case\ttext\nnom\tno slot\n", "line 2: a template has one slot.*this one has 0"),
        ("a.tsv", "case\ttext\nnom\t[MASK] [MASK]\n", "this one has 2"),
        ("a.tsv", "case\ttext\nwho\t[MASK]\n", ", line 2: who is not a pronoun case; use one of"),
        (
            "a.tsv",
            "id\tcase\ttext\nx\tnom\t[MASK]\nx\tnom\t[MASK] .\n",
            ", line 3: the id x is already used in line 2.",
        ),
        ("a.tsv", "case\ttext\nnom\n", "line 2: 1 columns where the header has 2"),
        ("a.tsv", "case\ttext\n", "has a header but no rows."),
        ("a.tsv", "", "is empty"),
        ("r.tsv", "sentence\tpronoun\tuid\nNo slot.\the\t1\n", "line 2: a sentence of RUFF has one slot"),
        (
            "r.tsv",
            "sentence\tpronoun\tuid\n$NOM_PRONOUN\tzorp\t1\n",
            r", line 2: zorp is not a RUFF pronoun \(he, she, they, xe\)\.",
        ),
        (
            "p.csv",
            "template_idx,ante,pronoun_family,template\n1,a,zorp,x\n",
            (
                "line 2: zorp is not a known pronoun set. Write he, she, they or xe, or give the forms of "
                "another set separated by slashes, nominative first: ze/hir/hir/hirs/hirself."
            ),
        ),
    ],
)
def test_an_invalid_file_is_one_sentence(tmp_path: Path, name: str, text: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_source(write(tmp_path / name, text))


def test_missing_files_and_empty_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="There is no file"):
        read_source(tmp_path / "none.tsv")
    with pytest.raises(BadFile, match="has no explicit_template_"):
        read_source(tmp_path)
    with pytest.raises(
        BadFile,
        match=r"line 3: zorp is not a known pronoun set\. Write he, she, they or xe, or give the forms of "
        r"another set separated by slashes, nominative first: ze/hir/hir/hirs/hirself\.",
    ):
        read_people(write(tmp_path / "n.csv", "name,pronouns\nA,he\nB,zorp\n"))
    with pytest.raises(BadFile, match="lacks the column name"):
        read_people(write(tmp_path / "n.csv", "who\nA\n"))


def test_draws_are_seeded_and_paired_over_pronouns() -> None:
    rows = instances(built_in(), passes=4, seed=5)
    assert len(rows) == 40 * 4 * 4
    assert rows == instances(built_in(), passes=4, seed=5)
    assert [row.name for row in rows] != [instance.name for instance in instances(built_in(), passes=4, seed=6)]
    drawn: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        drawn.setdefault((row.template, row.pronouns[0]), []).append(row.name)
    assert all(names == drawn[template, "he"] for (template, _), names in drawn.items())
    assert all(len(set(names)) == 4 for names in drawn.values())  # no name is drawn twice before all were drawn
    assert len({row.id for row in rows}) == len(rows)


def test_a_limit_draws_a_sample() -> None:
    some = instances(built_in(), limit=30, seed=2)
    everything = [instance.id for instance in instances(built_in(), seed=2)]
    places = [everything.index(instance.id) for instance in some]
    assert len(some) == 30
    assert places == sorted(places)
    with pytest.raises(
        Refused, match=r"No instances remain: there is no template, no name, or no pronoun set is chosen\."
    ):
        instances(built_in(), only=("ze",))
    assert len(instances(built_in(), also=("ze",), only=("ze",), passes=1)) == 40
