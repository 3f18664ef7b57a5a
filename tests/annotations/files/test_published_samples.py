"""The published samples: context and completion are separated. Own templates, slots as published.

See docs/files.md#the-published-samples.
"""

import pytest

from evenhand.annotations.files.generations import GenerationParts, of_column, of_file, of_path, split_generation

DECLARED = "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {name} sings in a choir because {mask_token} likes company."
SLOT = "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {nom} sings in a choir."
RUFF = "The baker told the guest that $NOM_PRONOUN could wait."
KAI = "Kai/'s pronouns are xe/xem/xyrs. "


@pytest.mark.parametrize(
    ("template", "text", "sets", "setting", "dataset", "told"),
    [
        (
            DECLARED, f"{KAI}Kai sings in a choir because he is bored.", ("xe",), "pre", "misgendered",
            GenerationParts(f"{KAI}Kai sings in a choir because ", "he is bored.", "Kai", "xe"),
        ),
        (
            DECLARED, f"{KAI}Kai sings in a choir because xe likes company. Xe hums.", ("xe",), "post", "misgendered",
            GenerationParts(f"{KAI}Kai sings in a choir because xe likes company.", " Xe hums.", "Kai", "xe"),
        ),
        (SLOT, f"{KAI}Xe sings in a choir. On", ("xe",), "post", "misgendered",
         GenerationParts(f"{KAI}Xe sings in a choir.", " On", "Kai", "xe")),
        (SLOT, f"{KAI}hums", ("xe",), "pre", "misgendered", GenerationParts(KAI, "hums", "Kai", "xe")),
        (SLOT, f"{KAI}hums", (), "pre", "misgendered", GenerationParts(KAI, "hums", "Kai", "xe")),
        (SLOT, "Kai/'s pronouns are he/him/his. hums", ("xe",), "pre", "misgendered", None),
        (RUFF, "The baker told the guest that he had", ("she",), "pre", "ruff",
         GenerationParts("The baker told the guest that ", "he had", "", "she")),
        (RUFF, "The baker told the guest that she could wait. So", ("she",), "post", "ruff",
         GenerationParts("The baker told the guest that she could wait.", " So", "", "she")),
        (RUFF, "The baker told the guest that he could wait. So", ("she",), "post", "ruff", None),
        (RUFF, "The baker told  the\nguest that it", ("she",), "pre", "ruff",
         GenerationParts("The baker told  the\nguest that ", "it", "", "she")),
        (RUFF, "Once upon a time", ("she",), "", "ruff", None),
        ("A start without a slot.", "A start without a slot. And on", ("he",), "post", "own",
         GenerationParts("A start without a slot.", " And on", "", "he")),
        ("The friend of {name}", "The friend of Kai came", ("he",), "pre", "own", None),
        ("{a} {b} {c} {d} and {e}.", "1 2 3 4 and 5. x", ("he",), "", "own", None),
        ("Two [brackets] (and) a $sign.", "Two [brackets] (and) a $sign. x", (), "", "own",
         GenerationParts("Two [brackets] (and) a $sign.", " x", "", "")),
    ],
    ids=[
        "declared-pre", "declared-post", "capital", "cut", "deduced", "other-declared", "ruff-pre", "ruff-post",
        "ruff-wrong-slot", "blanks", "elsewhere", "no-slot", "open-end", "too-many-slots", "signs",
    ],
)  # fmt: skip
def test_a_generation_is_split_into_context_and_completion(template, text, sets, setting, dataset, told):
    assert split_generation(template, text, pronouns=sets, setting=setting, dataset=dataset) == told


def test_splitting_a_generation_loses_no_character():
    text = f"{KAI}Kai sings in a choir because \n he is bored."
    result = split_generation(DECLARED, text, pronouns=("xe",), setting="pre", dataset="misgendered")
    assert result.context + result.completion == text


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("he_pre_mask_gen.csv", ("he", "pre")),
        ("out/llama/xe_post_mask_gen.csv", ("xe", "post")),
        ("they_pre_mask_gen (1).csv", ("they", "pre")),
        ("the_pre_mask_gen.csv", ("", "")),
        ("samples.csv", ("", "")),
    ],
)
def test_pronouns_and_setting_are_read_from_the_file_name(name, found):
    assert of_file(name) == found


def test_setting_and_dataset_are_read_from_columns_and_folders():
    assert [of_column(name) for name in ("random_pre_gen", "random_post_gen", "generation")] == ["pre", "post", ""]
    assert [of_path(name) for name in ("RUFF/he.csv", "misgendered_llama.zip", "a/b.csv")] == [
        "ruff",
        "misgendered",
        "",
    ]
