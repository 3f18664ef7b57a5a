"""The language of a sentence, the word of a pack in it, and the form that replaces the word.

All sentences are our own. The counterparts of the first table were decided by hand, sentence by sentence.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import Refused
from evenhand.core.resources import ROOT
from evenhand.core.sentence_bias import slot as slots
from evenhand.core.sentence_bias.find_words import find_words, language_of
from evenhand.core.sentence_bias.keyword_packs import LANGUAGES, pack, words_of

# sentence with {}, the word at that place, the word that replaces it
HER_AND_HIS = [
    ("I gave {} the keys.", "her", "him"),
    ("We saw {} on the bridge.", "her", "him"),
    ("Nobody believed {}.", "her", "him"),
    ("The judge asked {} about the money.", "her", "him"),
    ("A letter from {} came today.", "her", "him"),
    ("The dog followed {} home.", "her", "him"),
    ("They made {} angry.", "her", "him"),
    ("Let {} speak first.", "her", "him"),
    ("I heard {} sing in the choir.", "her", "him"),
    ("We told {} to wait.", "her", "him"),
    ("The guide showed {} where the path began.", "her", "him"),
    ("I met {} briefly in June.", "her", "him"),
    ("She-wolves scared {} and the children.", "her", "him"),
    ("The doctor washed {} hands.", "her", "his"),
    ("I know {} address by heart.", "her", "his"),
    ("{} answer was short.", "Her", "His"),
    ("The captain sold {} old boat.", "her", "his"),
    ("Where is {} umbrella?", "her", "his"),
    ("The baker locked {} shop at noon.", "her", "his"),
    ("It was {} turn to cook.", "her", "his"),
    ("The pilot kept {} elderly neighbour company.", "her", "his"),
    ("We stayed at {} brightly painted house.", "her", "his"),
    ("The nurse and {} colleagues ate late.", "her", "his"),
    ("Without {} glasses the clerk read nothing.", "her", "his"),
    ("The writer burnt {} first two novels.", "her", "his"),
    ("The blue coat is {}.", "hers", "his"),
    ("That idea was {}, not mine.", "hers", "his"),
    ("A cousin of {} keeps bees.", "hers", "his"),
    ("{} was the louder voice.", "Hers", "His"),
    ("The blue coat is {}.", "his", "hers"),
    ("That idea was {}, not mine.", "his", "hers"),
    ("The last seat is {} and the first one mine.", "his", "hers"),
    ("The farmer fed {} goats.", "his", "her"),
    ("{} voice broke at the end.", "His", "Her"),
    ("The visitor left {} hat on the piano.", "his", "her"),
    ("I borrowed {} bicycle yesterday.", "his", "her"),
    ("The committee thanked {} for the report.", "him", "her"),
    ("I sat beside {}.", "him", "her"),
    ("We wrote to {} twice.", "him", "her"),
    ("The stranger introduced {} at the door.", "himself", "herself"),
    ("The child hurt {} on the stairs.", "herself", "himself"),
    ("By noon {} had mended the fence.", "she", "he"),
]


@pytest.mark.parametrize(("template", "word", "counterpart"), HER_AND_HIS)
def test_the_counterpart_has_the_right_form(template, word, counterpart):
    slot = slots.find_slot(template.format(word))
    assert (slot.language, slot.keyword, slot.counterpart) == ("en", word, counterpart)
    assert slot.counterpart_sentence == template.format(counterpart)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The nurse said he was tired.", "en"),
        ("He left", "en"),
        ("[MASK] is tired.", "en"),
        ("La maestra está cansada.", "es"),
        ("Ella llegó.", "es"),
        ("¿Quién es el jefe?", "es"),
        ("Mi hermano canta.", "es"),
        ("彼は医者だ。", "ja"),
        ("テニスが好きな娘", "ja"),
        ("他是一名护士。", "zh"),
        ("[MASK]坐在窗边。", "zh"),
        ("她喜欢 jazz 和 blues。", "zh"),
    ],
)
def test_the_language_is_recognised(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_gallery_is_read_in_its_language(language):
    from evenhand.core.resources import table

    rows = [row for row in table("gallery") if row["language"] == language]
    assert len(rows) >= {"zh": 12, "en": 12}.get(language, 6)
    for row in rows:
        options = tuple(row["options"].split()) or None
        slot = slots.find_slot(row["text"], options)
        assert slot.language == language, row["text"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("父母は元気だ。", []),
        ("大丈夫だよ。", []),
        ("長男は医者だ。", []),
        ("昨日父が来た。", ["父"]),
        ("彼女は少女に会った。", ["彼女", "少女"]),
        ("彼女たちは歌った。", ["彼女たち"]),
        ("お母さんと息子さん", ["お母さん", "息子さん"]),
        ("彼岸花が咲いた。", []),
        ("若い女性社員が来た。", ["女性"]),
    ],
)
def test_japanese_words_inside_others_are_not_found(text, found):
    assert [text[match.start : match.end] for match in find_words(text, pack("ja"))] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The she-wolf and the he-goat.", []),
        ("He's here.", ["He"]),
        ("My mother-in-law paints.", ["mother-in-law"]),
        ("The woman's hat and a policewoman", ["woman", "policewoman"]),
        ("Manage the sheaf.", []),
        ("MY BROTHER LEFT", ["BROTHER"]),
    ],
)
def test_english_words_match_whole_words(text, found):
    assert [text[match.start : match.end] for match in find_words(text, pack("en"))] == found


@pytest.mark.parametrize(
    ("text", "keyword", "counterpart"),
    [
        ("My mum paints.", "mum", "dad"),
        ("My dad paints.", "dad", "mom"),
        ("HE LEFT.", "HE", "SHE"),
        ("Grandad slept.", "Grandad", "Grandma"),
    ],
)
def test_capitals_are_kept_and_further_words_found(text, keyword, counterpart):
    slot = slots.find_slot(text)
    assert (slot.keyword, slot.counterpart) == (keyword, counterpart)


def test_a_typed_mask_at_the_beginning_takes_a_capital():
    slot = slots.find_slot("[MASK] left.", ("she", "he"))
    assert slot.probe.options == ("He", "She")
    assert slot.others[:2] == ("They", "Xe")
    assert slots.find_slot("Then [MASK] left.", ("he", "she")).probe.options == ("he", "she")


@pytest.mark.parametrize(
    ("text", "keyword", "pair", "first_other"),
    [
        ("Tenzin said xe was tired.", "xe", ("he", "she"), "they"),
        ("The engineer lost their keys.", "their", ("his", "her"), "their"),
        ("They left.", "They", ("He", "She"), "They"),
        ("I met them yesterday.", "them", ("him", "her"), "them"),
        ("The book is theirs.", "theirs", ("his", "hers"), "theirs"),
        ("Kim hurt xemself.", "xemself", ("himself", "herself"), "themself"),
        ("Sam said faer cat ran.", "faer", ("his", "her"), "their"),
    ],
)
def test_a_pronoun_of_another_set_is_the_slot(text, keyword, pair, first_other):
    slot = slots.find_slot(text)
    assert slot.text[slice(*slot.word)] == slot.keyword == keyword
    assert (slot.male, slot.female) == pair and slot.others[0] == first_other
    assert (slot.counterpart, slot.counterpart_sentence) == (None, None)
    assert not slot.sided and slot.own_words == pair


def test_keywords_come_before_pronouns_of_other_sets():
    assert slots.find_slot("The nurse said he lost their keys.").keyword == "he"
    for text, language, why in (
        ("They lost their keys.", None, "2 keywords: They, their"),
        ("It lost its keys.", None, "no keyword"),  # a thing
        ("Dicen they.", "es", "no keyword"),
    ):
        with pytest.raises(Refused, match=why):
            slots.find_slot(text, language=language)


def test_two_words_outside_the_pairs_have_no_side():
    slot = slots.find_slot("Tenzin said [MASK] was tired.", ("they", "xe"))
    assert slot.own_words == ("they", "xe") and slot.others[:3] == ("he", "she", "ze")
    assert slots.find_slot("The [MASK] left.", ("nurse", "doctor")).others == ()
    assert slots.find_slot("[MASK]来了。", ("它", "妳")).others == ("他", "她", "ta", "祂")
    assert slots.find_slot("Then [MASK] left.", ("she", "he")).own_words is None


def test_own_words_are_found_with_their_language():
    own = words_of("male\tfemale\tlanguage\nanaia\tarreba\teu\n", "mine.tsv")
    slot = slots.find_slot("Nire arreba etorri da.", own=own)
    assert (slot.language, slot.name, slot.counterpart_sentence) == ("eu", "anaia/arreba", "Nire anaia etorri da.")
    more = words_of("male\tfemale\nbeau\tbelle\n", "mine.tsv", "en")
    assert slots.find_slot("The belle left early.", own=more).counterpart == "beau"
    assert slots.find_slot("The nurse said he left.", own=more).name == "he/she"


@given(st.text(st.sampled_from("heis rHm.'-ñéá彼女は"), max_size=40))
def test_found_words_are_in_the_pack(text):
    for language in LANGUAGES:
        words = pack(language)
        for match in find_words(text, words):
            assert text[match.start : match.end].lower() == match.word.pair.word(match.side).lower()
            assert match.word in words.words


WINOGENDER = ROOT.parent / "shared" / "data" / "benchmarks" / "winogender" / "all_sentences.tsv"


@pytest.mark.skipif(not WINOGENDER.is_file(), reason="../shared/data is not here: needs Winogender")
def test_pronouns_of_winogender_take_the_right_form():
    """Its sentences come with he and with she, so the counterpart of each is known: her, his, him, he and she."""
    sentences = dict(line.split("\t") for line in WINOGENDER.read_text(encoding="utf-8").splitlines()[1:])
    right = []
    for name, text in sentences.items():
        other = name.replace(".female.", ".male.") if ".female." in name else name.replace(".male.", ".female.")
        if other != name:
            slot = slots.find_slot(text)
            right.append((slot.keyword, slot.counterpart_sentence == sentences[other]))
    assert len(right) == 480
    of_two_forms = [good for keyword, good in right if keyword in ("her", "his", "him")]
    assert len(of_two_forms) == 124
    assert sum(of_two_forms) >= 122  # 122 before its two failures were looked at, 124 since
    assert sum(good for _, good in right) >= 478
