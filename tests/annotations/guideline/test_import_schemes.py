"""Configurations of Label Studio and Potato as schemes: what comes over, what is left out with which sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.other_tools.write import labelling_config
from evenhand.annotations.guideline.import_schemes import scheme_from_bytes
from evenhand.annotations.guideline.scheme import as_data
from evenhand.annotations.guideline.versions import guideline
from evenhand.core.errors import BadFile, EvenhandError, Refused
from tests.support.own_schemes import DATA, own_project

# The element names and attributes of https://labelstud.io/tags/; texts of our own.
LABEL_STUDIO = b"""<?xml version="1.0" encoding="UTF-8"?>
<View>
  <Header value="Is it helpful?"/>
  <Text name="text" value="$text"/>
  <Choices name="verdict" toName="text" choice="single-radio">
    <Choice value="Very helpful" hotkey="1" hint="Answers it all"/>
    <Choice value="\xe6\x9c\x89\xe5\xae\xb3" alias="harmful" hotkey="x"/>
    <Choice value="skip"/>
  </Choices>
  <View visibleWhen="choice-selected"><Rating name="hidden" toName="text"/></View>
  <Choices name="again" toName="text"><Choice value="A"/><Choice value="B"/></Choices>
  <Choices name="marks" toName="text" choice="multiple"><Choice value="Rude"><Choice value="Very"/></Choice></Choices>
  <Choices name="listed" toName="text" choice="multiple" value="$options"/>
  <Labels name="spans" toName="text"><Label value="Slur" hotkey="7" background="red"/><Label value="Name"/></Labels>
  <Rating name="fluency" toName="text" maxRating="5" required="true"/>
  <Rating name="of a span" toName="text" perRegion="true"/>
  <Number name="share" toName="text" min="0" max="100"/>
  <TextArea name="why" toName="text" placeholder="Why?"/>
  <TextArea name="more" toName="text"/>
  <Pairwise name="pw" toName="a,b"/>
  <Image name="picture" value="$image"/>
</View>"""
# The keys of Potato's documentation; texts of our own.
POTATO = b"""
annotation_task_name: ours
annotation_schemes:
  - {annotation_type: pure_display, name: head, description: "## Read"}
  - annotation_type: radio
    name: verdict
    sequential_key_binding: true
    labels: [Helpful, {name: harmful, tooltip: Does harm, key_value: h}, Neither]
  - {annotation_type: select, name: topic, labels: [a, b]}
  - {annotation_type: multiselect, name: flags, labels: [{name: rude, key_value: r}, two words]}
  - {annotation_type: span, name: spans, labels: [{name: claim, key_value: c}]}
  - {annotation_type: likert, name: fluency, description: "**How fluent**?", min_label: poor, max_label: good, size: 7,
     label_requirement: {required: true}}
  - {annotation_type: slider, name: long, min_value: 0, max_value: 100}
  - {annotation_type: slider, name: short, min_value: 0, max_value: 10}
  - {annotation_type: multirate, name: m, options: [Clear, Right], labels: [no, partly, yes]}
  - {annotation_type: text, name: why, description: Why}
  - {annotation_type: text, name: more}
  - {annotation_type: best_worst, name: bw}
"""


def test_a_label_studio_configuration_becomes_a_scheme() -> None:
    result = scheme_from_bytes(LABEL_STUDIO, "config.xml")
    assert as_data(result.scheme) == {
        "choices": [
            {"code": "Very_helpful", "key": "1", "en": "Very helpful", "about": "Answers it all"},
            {"code": "harmful", "zh": "有害"},
            {"code": "choice_1", "en": "skip"},
        ],
        "flags": [{"code": "Rude", "en": "Rude"}],
        "spans": [{"code": "Slur", "key": "7", "en": "Slur"}, {"code": "Name", "en": "Name"}],
        "questions": [
            {"code": "fluency", "en": "fluency", "scale": [1, 5], "required": True},
            {"code": "why", "en": "Why?", "text": True},
        ],
    }
    assert [(notice.values["element"], notice.message.split(": ")[1].split()[0]) for notice in result.left_out] == [
        ("<Choices> verdict 有害", "the"), ("<View>", "it"), ("<Choices> again", "a"),
        ("<Choices> marks Rude", "nested"),
        ("<Choices> listed", "its"), ("<Rating> of a span", "it"), ("<Number> share", "a"), ("<TextArea> more", "a"),
        ("<Pairwise> pw", "a"), ("<Image> picture", "this"),
    ]  # fmt: skip
    assert all(entry.text for entry in result.left_out)


def test_a_potato_configuration_becomes_a_scheme() -> None:
    result = scheme_from_bytes(POTATO, "config.yaml")
    data = as_data(result.scheme)
    assert data["choices"] == [
        {"code": "Helpful", "key": "1", "en": "Helpful"},
        {"code": "harmful", "en": "harmful", "about": "Does harm"},
        {"code": "Neither", "key": "3", "en": "Neither"},
    ]
    assert data["flags"] == [{"code": "rude", "key": "r", "en": "rude"}, {"code": "two_words", "en": "two words"}]
    assert data["spans"] == [{"code": "claim", "key": "c", "en": "claim"}]
    scale = {"low_en": "no", "high_en": "yes", "scale": [1, 3]}
    assert data["questions"] == [
        {"code": "fluency", "en": "How fluent?", "low_en": "poor", "high_en": "good", "scale": [1, 7],
         "required": True},
        {"code": "short", "en": "short", "scale": [0, 10]},
        {"code": "Clear", "en": "Clear", **scale}, {"code": "Right", "en": "Right", **scale},
        {"code": "why", "en": "Why", "text": True},
    ]  # fmt: skip
    left = [notice.values["element"] for notice in result.left_out]
    assert left == ["radio verdict harmful", "select topic", "slider long", "text more", "best_worst bw"]


def test_the_exported_label_studio_configuration_is_read_back(fresh_store: Store) -> None:
    project = own_project(fresh_store, "own")
    result = scheme_from_bytes(labelling_config(project, guideline(fresh_store, project)).encode(), "config.xml")
    data = as_data(result.scheme)
    bare = [
        {key: choice[key] for key in ("code", "zh", "en") if key in choice}
        for choice in (*DATA["choices"], *DATA["flags"])
    ]
    assert [*data["choices"], *data["flags"]] == bare
    assert [span["code"] for span in data["spans"]] == ["slur", "claim"] and result.left_out == ()


HOSTILE = (
    b'<!DOCTYPE v [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><View>&b;</View>',
    b'<!DOCTYPE v [<!ENTITY x SYSTEM "file:///etc/passwd">]><View><Header value="&x;"/></View>',
    b'<!DOCTYPE v SYSTEM "http://127.0.0.1:9/v.dtd"><View/>',
    b"<!DOCTYPE View><View/>",
    b'<View><Header value="&x;"/></View>', b"<View>", b"", b"no XML", b"<View>" * 5_000, b"\xff\xfe<\x00",
    b'<?xml version="1.0" encoding="made-up"?><View/>', b"<View/>",
    b'<View><Choices name="a" choice="multiple"><Choice value="x"/></Choices></View>',
)  # fmt: skip


@pytest.mark.parametrize("data", HOSTILE)
def test_hostile_xml_is_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(BadFile, match=r"c\.xml"):
        scheme_from_bytes(data, "c.xml")


@pytest.mark.parametrize(
    "data",
    [
        b"annotation_schemes: 1", b"annotation_schemes: [1]", b"annotation_schemes: []",
        b"annotation_schemes: [{annotation_type: radio, labels: 7}]", b"annotation_schemes: [{annotation_type: [1]}]",
    ],
)  # fmt: skip
def test_an_invalid_potato_configuration_is_refused(data: bytes) -> None:
    with pytest.raises(BadFile, match=r"c\.yaml"):
        scheme_from_bytes(data, "c.yaml")


ATTRIBUTES = st.dictionaries(
    st.sampled_from(("name", "value", "alias", "hint", "hotkey", "choice", "maxRating", "min", "max", "required")),
    st.one_of(st.sampled_from(("multiple", "single", "true", "5", "1", "n", "a / b", "有 / b")), st.text(max_size=50)),
)
TAGS = st.sampled_from(("Choices", "Labels", "Rating", "Number", "TextArea", "View", "Choice", "Label", "Odd"))


@st.composite
def configuration(draw: st.DrawFn, deep: int = 0) -> str:
    quoted = {key: "".join(f"&#{ord(c)};" for c in value if c.isprintable()) for key, value in draw(ATTRIBUTES).items()}
    inside = draw(st.lists(configuration(deep + 1), max_size=4)) if deep < 3 else []
    tag = draw(TAGS)
    text = " ".join(f'{key}="{value}"' for key, value in quoted.items())
    return f"<{tag} {text}>{''.join(inside)}</{tag}>"


CHOICES = '<Choices name="main"><Choice value="A"/><Choice value="B"/></Choices>'


@settings(max_examples=12)
@given(st.lists(configuration(), max_size=3))
def test_any_configuration_is_a_scheme_that_can_be_stored_or_refused(parts: list[str]) -> None:
    text = f"<View>{CHOICES}{''.join(parts)}</View>"
    try:
        result = scheme_from_bytes(text.encode(), "c.xml")
    except EvenhandError as error:
        assert isinstance(error, Refused), "too many of something; never a file that cannot be read"
    else:
        assert [choice.en for choice in result.scheme.choices[:2]] == ["A", "B"]
