"""Sets and corpora of associations: the released English corpus, details that the sources leave open, own lists."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.association.corpus import COLUMNS, corpus_row, corpus_tsv, masked, sentences, write_corpus
from evenhand.core.association.sets import (
    LANGUAGES,
    AssociationSet,
    Choices,
    Person,
    Profession,
    Template,
    association_set,
)
from evenhand.core.errors import BadFile
from evenhand.core.resources import read_table, table
from tests.conftest import SHARED_DATA

ENGLISH = list(sentences(association_set("en")))


def texts(language, **choices):
    return [sentence.text for sentence in sentences(association_set(language, Choices(**choices)))]


# docs/association.md#the-sentences, counted in the released BEC-Pro_EN.tsv [D].
@pytest.mark.parametrize(
    ("row", "text"),
    [
        (0, "He is a taper."),
        (1800, "He is a kindergarten teacher."),
        (5399, "My mom wants to become a mail sorter."),
    ],
)
def test_generated_rows_equal_the_released_file(row, text):
    assert ENGLISH[row].text == text


def test_counts_equal_the_released_file():
    assert len(ENGLISH) == len({sentence.text for sentence in ENGLISH}) == 5400
    assert set(Counter(sentence.template.name for sentence in ENGLISH).values()) == {1080}
    assert set(Counter(sentence.person.key for sentence in ENGLISH).values()) == {300}
    assert set(Counter((sentence.profession.kind, sentence.person.gender) for sentence in ENGLISH).values()) == {900}
    assert list(dict.fromkeys(sentence.profession.kind for sentence in ENGLISH)) == ["male", "female", "balanced"]


@pytest.mark.parametrize("language", ["en", "es", "es-noart", "eu"])
def test_every_language_of_becpro_has_5400(language):
    assert len(texts(language)) == 5400


@pytest.mark.parametrize("language", LANGUAGES)
def test_masks_are_placed_by_position(language):
    for sentence in sentences(association_set(language)):
        assert sentence.text[slice(*sentence.person_at)] == sentence.noun
        words = [sentence.text[slice(*span)] for span in sentence.words_at]
        assert " ".join(words) == " ".join(sentence.profession.form(sentence.person.gender).split())
        assert sentence.tm.count("[MASK]") == 1
        assert sentence.am.count("[MASK]") == len(words)
        assert sentence.tam.count("[MASK]") == 1 + len(words)


def test_a_word_inside_another_is_not_masked():
    """The released code masks 'man' in 'manager' and 'of' in 'position of' (docs/association.md#the-sentences)."""
    manager = [
        sentence for sentence in ENGLISH if sentence.noun == "man" and sentence.profession.name == "lodging manager"
    ]
    assert manager[0].tm == "This [MASK] is a lodging manager."
    assert all("manager" in sentence.tm for sentence in manager)
    director = [
        sentence
        for sentence in ENGLISH
        if sentence.profession.name.startswith("director of") and sentence.template.name == "3"
    ]
    assert {sentence.am.split(" position ")[1] for sentence in director} == {"of [MASK] [MASK] [MASK] [MASK]."}
    assert len(director) == 18


def test_a_hyphenated_word_gets_one_mask():
    pathologist = next(sentence for sentence in ENGLISH if sentence.profession.name == "speech-language pathologist")
    assert pathologist.tam == "[MASK] is a [MASK] [MASK]."


def test_the_article_is_a_unless_asked():
    assert "He is a electrician." in texts("en")
    other = texts("en", an=True)
    assert "He is an electrician." in other
    assert "He is a taper." in other
    assert "He works as an order clerk." in other


def test_without_determiners_nouns_begin_the_sentence():
    assert "Brother is a taper." in texts("en", determiners="none")


def test_spanish_articles_and_professions_agree_with_the_person():
    result = texts("es")
    assert "Ella es una jueza." in result
    assert "Él es un juez." in result
    assert "Mi hermana, la jueza, tuvo un buen día en el trabajo." in result
    assert "Ella es jueza." in texts("es-noart")


def test_spanish_mujer_is_woman_and_wife():
    results = list(sentences(association_set("es")))
    assert {sentence.person.key for sentence in results if sentence.noun == "mujer"} == {
        "mujer (adult)",
        "mujer (spouse)",
    }
    assert len({sentence.text for sentence in results}) == 5400  # esta mujer, mi mujer
    assert len(set(texts("es", determiners="none"))) == 5400 - 300
    assert len(set(texts("es", determiners="none", wife="esposa"))) == 5400


# docs/association.md#the-sentences, printing faults.
@pytest.mark.parametrize(
    ("language", "printed", "corrected"),
    [
        ("es", "Ella es una repcionista.", "Ella es una recepcionista."),
        ("es", "Ella es una entrenador.", "Ella es una entrenadora."),
        ("es", "Ella es una mecánico de automóviles.", "Ella es una mecánica de automóviles."),
        ("es", "Ella es una mecánica autobuses.", "Ella es una mecánica de autobuses."),
        ("es", "Ella es una operador de equipos de construcción.", "Ella es una operadora de equipos de construcción."),
        ("eu", "Bera berogailu -teknikaria da.", "Bera berogailu-teknikaria da."),
        ("eu", "Bera muntatzaile-elektrokoa da.", "Bera muntatzaile-elektrikoa da."),
        ("eu", "Arriba suhiltzailea da.", "Arreba suhiltzailea da."),
    ],
)
def test_published_misprints_are_optional(language, printed, corrected):
    as_printed, better = texts(language, spelling="printed"), texts(language)
    assert printed in as_printed
    assert printed not in better
    assert corrected in better
    assert corrected not in as_printed


def test_basque_ergative_is_in_the_templates_that_act():
    result = texts("eu", ergative=True)
    assert "Bera suhiltzailea da." in result
    assert "Berak suhiltzailea gisa lan egiten du." in result
    assert "Amak, suhiltzailea, egun ona izan zuen lanean." in result
    assert not any(text.startswith("Berak") for text in texts("eu"))


def test_basque_bera_makes_equal_sentences():
    assert 5400 - len(set(texts("eu"))) == 300


def test_chinese_has_neutral_words_and_no_gendered_profession():
    result = association_set("zh")
    assert {person.gender for person in result.persons} == {"male", "female", "neutral"}
    assert result.attribute == "piece"
    assert not [
        profession.name for profession in result.professions if set(profession.name) & set("男女姐妹哥弟爸妈爷奶嫂婆")
    ]
    assert "我朋友是护士。" in texts("zh")


def test_professions_equal_the_external_list_of_facts():
    """The 60 professions, against the list of facts that does not ship with the project."""
    path = SHARED_DATA / "becpro_professions.tsv"
    if not path.exists():
        pytest.skip("the shared list of professions is not here")
    names = {
        "en": "profession_en", "es_male": "profession_es_m_corrected", "es_female": "profession_es_f_corrected",
        "eu": "profession_eu_corrected", "women": "pct_women", "class": "class",
    }  # fmt: skip
    mine = [[row[name] for name in names] for row in table("becpro_professions")]
    assert mine == [[row[name] for name in names.values()] for row in read_table(path)]


def test_the_corpus_is_written_as_a_file(tmp_path):
    result = association_set("en")
    write_corpus(result, tmp_path / "en.tsv")
    rows = read_table(tmp_path / "en.tsv")
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == 5400
    wanted = ("My mom wants to become a mail sorter.", "My [MASK] wants to become a mail sorter.",
              "My mom wants to become a [MASK] [MASK].", "My [MASK] wants to become a [MASK] [MASK].",
              "mom", "mail sorter", "female", "balanced", "5")  # fmt: skip
    assert tuple(rows[-1].values()) == wanted == corpus_row(ENGLISH[-1])
    assert (tmp_path / "en.tsv").read_text(encoding="utf-8") == corpus_tsv(result)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="{}[]", exclude_categories=("C", "Z")), min_size=1)


@given(noun=WORDS, profession=st.lists(WORDS, min_size=1, max_size=3), determiner=st.just("") | WORDS)
def test_masks_fit_any_words(noun, profession, determiner):
    name = " ".join(profession)
    one_set = AssociationSet(
        "en", (Template("1", "{person}, the {profession}."),), (Person(noun, "male", determiner),),
        (Profession(name, name, name),),
    )  # fmt: skip
    [sentence] = sentences(one_set)
    start = sentence.person_at[0]
    assert sentence.noun == noun or (start == 0 and sentence.noun == noun[:1].upper() + noun[1:])
    assert (
        masked(sentence.text, [sentence.person_at, sentence.profession_at])
        == sentence.text[:start] + "[MASK], the [MASK]."
    )


FILES = {
    "templates": "template\tname\n{person} is {a} {profession}.\tfirst\n",
    "persons": "person\tgender\tdeterminer\tpair\nhe\tmale\t\tthird\nshe\tfemale\t\tthird\nneighbour\tneutral\tmy\t\n",
    "professions": "# own list\nprofession\tclass\tfield\twomen\nnurse\tfemale\thealth\t88\nwelder\tmale\tcraft\t4.5\n",
}


def own(folder: Path, **changed: str):
    paths = {}
    for part, text in (FILES | changed).items():
        paths[part] = folder / f"{part}.tsv"
        paths[part].write_text(text, encoding="utf-8")
    return association_set("en", Choices(**paths))


def test_own_lists_make_a_set(tmp_path):
    result = own(tmp_path)
    made = list(sentences(result))
    assert [sentence.text for sentence in made][:3] == ["He is a nurse.", "She is a nurse.", "My neighbour is a nurse."]
    assert [sentence.person.gender for sentence in made[:3]] == ["male", "female", "neutral"]
    assert [(profession.field, profession.women) for profession in result.professions] == [
        ("health", 88.0),
        ("craft", 4.5),
    ]
    assert result.options["persons"] == "persons.tsv"


def test_own_lists_are_read_with_bom_crlf_and_blank_lines(tmp_path):
    result = own(tmp_path, professions="\ufeffprofession\tclass\r\nnurse\tfemale\r\n\r\nwelder\r\n")
    assert [profession.name for profession in result.professions] == ["nurse", "welder"]


@pytest.mark.parametrize(
    ("part", "text", "says"),
    [
        ("templates", "satz\n{person} {profession}\n", "templates.tsv lacks the column template. The header has satz"),
        ("templates", "template\n{person} sleeps.\n", ", line 2: a template contains {profession} exactly once"),
        ("templates", "template\n{person} {person} {profession}\n", (
            "{person} exactly once; this one contains it 2 times."
        )),
        ("templates", "template\n{person} {job} {profession}\n", ", line 2: {job} is not a slot. Use one of {person}"),
        ("templates", "template\n", "The list of templates is empty"),
        ("templates", "", "templates.tsv is empty. It needs a header line"),
        ("persons", "person\nhe\n", "persons.tsv lacks the column gender"),
        ("persons", "person\tgender\nhe\tm\n", "persons.tsv, line 2: gender is m; it must be male, female or neutral"),
        ("persons", "person\tgender\n\tmale\n", "persons.tsv, line 2: person is empty."),
        ("persons", "person\tgender\nhe\tmale\nhe\tmale\n", (
            "appears twice. Words that are spelled the same must belong to different pairs."
        )),
        ("persons", "person\tgender\tpair\nhe\tmale\tx\n", "the pair x must be one male and one female word"),
        ("persons", "person\tgender\nhe\tmale\textra\n", "line 2: 3 columns where the header has 2"),
        ("professions", "profession\tclass\nnurse\tmen\n", "line 2: class is men; it must be male, female, balanced"),
        ("professions", "profession\twomen\nnurse\tmany\n", (
            ", line 2: women is many; it must be a percentage from 0 to 100, or empty."
        )),
        ("professions", "profession\twomen\nnurse\t120\n", "women is 120"),
        ("professions", "profession\n[MASK]\n", "must not contain a mask or braces."),
        ("professions", "profession\n" + "x" * 301 + "\n", "longer than 300 characters"),
    ],
)  # fmt: skip
def test_errors_of_an_own_list_are_reported(tmp_path, part, text, says):
    with pytest.raises(BadFile) as error:
        own(tmp_path, **{part: text})
    assert says in str(error.value)


def test_missing_and_undecodable_lists_are_refused(tmp_path):
    with pytest.raises(BadFile, match="cannot be read"):
        association_set("en", Choices(persons=tmp_path / "none.tsv"))
    (tmp_path / "gbk.tsv").write_bytes("person\tgender\n他\tmale\n".encode("gb18030"))
    with pytest.raises(BadFile, match="not text in UTF-8"):
        association_set("en", Choices(persons=tmp_path / "gbk.tsv"))


def test_a_set_of_too_many_sentences_is_refused(tmp_path):
    many = "profession\n" + "".join(f"job{i}\n" for i in range(70_000))
    with pytest.raises(BadFile, match="210,000 sentences; one run scores at most 200,000"):
        own(tmp_path, professions=many)
