"""Loading: what is refused and in which words, what counts as the same weights, what is never run."""

import json
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertForMaskedLM,
    BertLMHeadModel,
    BertModel,
    ElectraConfig,
    ElectraForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    XLNetConfig,
    XLNetLMHeadModel,
)

from evenhand.core.errors import ModelUnavailable
from evenhand.core.models import catalogue, known_models, open_scorer
from evenhand.core.models.loading import load_causal, load_masked
from evenhand.core.resources import MODELS, keyword_pairs
from evenhand.core.types import MaskedSentence
from tests.support import tiny_models

Breaker = Callable[[Path], object]


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def headless(folder: Path) -> None:
    tiny_models.save(BertModel(tiny_models.config()), folder)


def discriminator(folder: Path) -> None:
    sizes = tiny_models.SIZES | {"embedding_size": 8}
    tiny_models.save(ElectraForPreTraining(ElectraConfig(**sizes)), folder)


def causal(folder: Path) -> None:
    tiny_models.save(GPT2LMHeadModel(GPT2Config(vocab_size=60, n_embd=16, n_layer=1, n_head=2)), folder)


def decoder(folder: Path) -> None:
    tiny_models.save(BertLMHeadModel(tiny_models.config(is_decoder=True)), folder)


def not_a_number(folder: Path) -> None:
    tiny_models.bert(folder)
    change_weights(folder, lambda t: t["bert.encoder.layer.0.output.dense.bias"].__setitem__(3, float("nan")))


def infinite(folder: Path) -> None:
    tiny_models.bert(folder)
    change_weights(folder, lambda t: t["bert.encoder.layer.0.output.dense.bias"].__setitem__(3, float("inf")))


def lacks_head_part(folder: Path) -> None:
    tiny_models.bert(folder)
    change_weights(folder, lambda t: t.pop("cls.predictions.transform.dense.weight"))


def lacks_output_bias(folder: Path) -> None:
    tiny_models.bert(folder)
    change_weights(folder, lambda t: [t.pop(key) for key in list(t) if key.endswith("predictions.bias")])


def lacks_word_embeddings(folder: Path) -> None:
    tiny_models.bert(folder)
    tied = ("word_embeddings.weight", "predictions.decoder.weight")
    change_weights(folder, lambda t: [t.pop(key) for key in list(t) if key.endswith(tied)])


def lacks_layer(folder: Path) -> None:
    tiny_models.bert(folder)
    change_weights(folder, lambda t: t.pop("bert.encoder.layer.1.output.dense.weight"))


def empty_folder(folder: Path) -> None:
    folder.mkdir()


def broken_config(folder: Path) -> None:
    tiny_models.bert(folder)
    (folder / "config.json").write_text('{"model_type": "bert",')


def config_without_type(folder: Path) -> None:
    tiny_models.bert(folder)
    (folder / "config.json").write_text("[1, 2]")


def no_weights(folder: Path) -> None:
    tiny_models.bert(folder)
    (folder / "model.safetensors").rename(folder / "tf_model.h5")


def truncated(folder: Path) -> None:
    tiny_models.bert(folder)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def other_shape(folder: Path) -> None:
    tiny_models.bert(folder)
    written = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(written | {"intermediate_size": 48}))


def other_vocabulary(folder: Path) -> None:
    tiny_models.bert(folder)
    written = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(written | {"vocab_size": 60}))


def empty_weights(folder: Path) -> None:
    tiny_models.bert(folder)
    (folder / "model.safetensors").write_bytes(b"")


def no_tokenizer(folder: Path) -> None:
    tiny_models.bert(folder)
    for path in folder.glob("tokenizer*"):
        path.unlink()


def no_mask_token(folder: Path) -> None:
    tiny_models.bert(folder)
    tiny_models.tokenizer_files(folder, without="[MASK]")


def too_many_words(folder: Path) -> None:
    tiny_models.bert(folder)
    tiny_models.tokenizer_files(folder, extra=("大", "小", "多", "少"))


REFUSALS: list[tuple[Breaker, str]] = [
    (headless, "has no masked-language-modelling head; its scores would be random."),
    (lacks_head_part, "has no masked-language-modelling head; its scores would be random."),
    (lacks_output_bias, "has no masked-language-modelling head; its scores would be random."),
    (lacks_word_embeddings, "has no masked-language-modelling head; its scores would be random."),
    (
        discriminator,
        (
            "has no masked-language-modelling head; its scores would be random. For ELECTRA, use the "
            "generator, not the discriminator."
        ),
    ),
    (causal, "is not a masked language model"),
    (decoder, "is not a masked language model"),
    (not_a_number, "contain NaN or infinite values."),
    (infinite, "contain NaN or infinite values."),
    (lacks_layer, "lack weights (bert.encoder.layer.1.output.dense.weight)"),
    (empty_folder, "is not a model folder: there is no config.json in it. Give the folder that contains one."),
    (broken_config, "cannot be read"),
    (config_without_type, "does not name the model type."),
    (no_weights, "has no weights that load without running code"),
    (truncated, "damaged"),
    (
        other_shape,
        "cannot be used: the file is damaged, does not match its config.json, or can only be read by running code.",
    ),
    (
        other_vocabulary,
        "cannot be used: the file is damaged, does not match its config.json, or can only be read by running code.",
    ),
    (empty_weights, "damaged"),
    (no_tokenizer, "has no vocabulary file"),
    (no_mask_token, "has no mask token"),
    (too_many_words, "do not match"),
]


@pytest.mark.parametrize(("make", "sentence"), REFUSALS, ids=[make.__name__ for make, _ in REFUSALS])
def test_an_unusable_masked_model_is_refused_with_one_sentence(make: Breaker, sentence: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make(folder)
    with pytest.raises(ModelUnavailable) as caught:
        load_masked(str(folder))
    text = str(caught.value)
    assert sentence in text and str(folder) in text and "\n" not in text


def xlnet(folder: Path) -> None:
    """Save a model listed among the causal ones that reads the whole sentence at once by default."""
    sizes = {"d_model": 16, "n_layer": 1, "n_head": 2, "d_inner": 32, "initializer_range": 0.6}
    tiny_models.save(XLNetLMHeadModel(XLNetConfig(vocab_size=len(tiny_models.VOCABULARY), **sizes)), folder)


def untied(folder: Path) -> None:
    tiny_models.save(LlamaForCausalLM(LlamaConfig(**tiny_models.SIZES)), folder)


def causal_headless(folder: Path) -> None:
    untied(folder)
    change_weights(folder, lambda t: t.pop("lm_head.weight"))


def causal_lacks_layer(folder: Path) -> None:
    untied(folder)
    change_weights(folder, lambda t: t.pop("model.layers.1.mlp.up_proj.weight"))


def causal_not_a_number(folder: Path) -> None:
    untied(folder)
    change_weights(folder, lambda t: t["model.norm.weight"].__setitem__(3, float("nan")))


def causal_truncated(folder: Path) -> None:
    untied(folder)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:-20])


def causal_too_few_words(folder: Path) -> None:
    tiny_models.save(LlamaForCausalLM(LlamaConfig(**tiny_models.SIZES | {"vocab_size": 40})), folder)


def reads_from_left_to_right(folder: Path) -> None:
    tiny_models.bert(folder)


CAUSAL_REFUSALS: list[tuple[Breaker, str]] = [
    (reads_from_left_to_right, "is not a left-to-right model, so the probability of a sentence is not defined."),
    (xlnet, "is not a left-to-right model, so the probability of a sentence is not defined."),
    (causal_headless, "has no language-modelling head; its scores would be random."),
    (causal_lacks_layer, "lack weights (model.layers.1.mlp.up_proj.weight)"),
    (causal_not_a_number, "contain NaN or infinite values."),
    (causal_truncated, "damaged"),
    (causal_too_few_words, "do not match"),
    (empty_folder, "is not a model folder: there is no config.json in it. Give the folder that contains one."),
]


@pytest.mark.parametrize(("make", "sentence"), CAUSAL_REFUSALS, ids=[make.__name__ for make, _ in CAUSAL_REFUSALS])
def test_an_unusable_causal_model_is_refused_with_one_sentence(make: Breaker, sentence: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    make(folder)
    with pytest.raises(ModelUnavailable) as caught:
        load_causal(str(folder))
    text = str(caught.value)
    assert sentence in text and str(folder) in text and "\n" not in text


def test_a_tied_causal_head_may_be_missing(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tiny_models.VOCABULARY), n_embd=16, n_layer=1, n_head=2))
    tiny_models.save(model, tmp_path / "whole")
    tiny_models.save(model.transformer, tmp_path / "headless")
    whole, headless = load_causal(str(tmp_path / "whole")), load_causal(str(tmp_path / "headless"))
    ids = torch.arange(5, 12).unsqueeze(0)
    assert torch.equal(whole.model(ids).logits, headless.model(ids).logits)
    assert whole.weights == headless.weights


def test_the_digest_of_a_causal_model_changes_with_its_settings(tmp_path: Path) -> None:
    untied(tmp_path)
    tiny_models.bare_tokenizer(tmp_path, bos="<s>")
    before = load_causal(str(tmp_path)).weights
    config, words = tmp_path / "config.json", tmp_path / "tokenizer.json"
    written, cutting = json.loads(config.read_text()), json.loads(words.read_text())
    config.write_text(json.dumps(written | {"rms_norm_eps": 1e-3}))
    other_norm = load_causal(str(tmp_path)).weights
    config.write_text(json.dumps(written))
    begin, text = {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
    special = {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}
    frame = {"type": "TemplateProcessing", "single": [begin, text], "pair": [begin, text], "special_tokens": special}
    words.write_text(json.dumps(cutting | {"post_processor": frame}))
    other_frame = load_causal(str(tmp_path)).weights
    assert len({before, other_norm, other_frame}) == 3


def test_code_that_comes_with_a_model_is_never_run(tmp_path: Path) -> None:
    folder, marker = tmp_path / "model", tmp_path / "ran"
    tiny_models.bert(folder)
    written = json.loads((folder / "config.json").read_text())
    auto_map = {"AutoConfig": "own.OwnConfig", "AutoModelForMaskedLM": "own.OwnModel"}
    (folder / "config.json").write_text(json.dumps(written | {"model_type": "own", "auto_map": auto_map}))
    (folder / "own.py").write_text(f"open({str(marker)!r}, 'w')\nclass OwnConfig: pass\nclass OwnModel: pass\n")
    with pytest.raises(ModelUnavailable, match="requires custom code"):
        load_masked(str(folder))
    assert not marker.exists()


class Payload:
    """A pickle that makes a folder when it is read without care."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    folder, marker = tmp_path / "model", tmp_path / "ran"
    tiny_models.bert(folder)
    (folder / "model.safetensors").unlink()
    torch.save({"bert.pooler": Payload(str(marker))}, folder / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="running code"):
        load_masked(str(folder))
    assert not marker.exists()
    with (folder / "pytorch_model.bin").open("wb") as file:
        pickle.dump(Payload(str(marker)), file)
    with pytest.raises(ModelUnavailable, match="running code"):
        load_masked(str(folder))
    assert not marker.exists()


def test_plain_torch_weights_are_loaded(tmp_path: Path) -> None:
    model = tiny_models.bert(tmp_path)
    same = load_masked(str(tmp_path)).weights
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    assert load_masked(str(tmp_path)).weights == same


def test_a_checkpoint_may_lack_tied_weights_and_the_pooler(tmp_path: Path) -> None:
    """Tied decoder weights and bias, position ids and the pooler are not errors."""
    model = tiny_models.bert(tmp_path)
    same = load_masked(str(tmp_path)).weights
    tensors = {key: value.clone() for key, value in model.state_dict().items()}
    for key in ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias", "bert.embeddings.position_ids"):
        tensors.pop(key, None)
    tensors["bert.pooler.dense.weight"] = torch.zeros(16, 16)
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert load_masked(str(tmp_path)).weights == same


def test_the_digest_depends_on_numbers_not_on_the_file_format(tmp_path: Path) -> None:
    model = tiny_models.bert(tmp_path / "one")
    model.save_pretrained(tmp_path / "shards", max_shard_size="4KB")
    tiny_models.tokenizer_files(tmp_path / "shards")
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 1
    whole = load_masked(str(tmp_path / "one"))
    assert len(whole.weights) == 64
    assert load_masked(str(tmp_path / "shards")).weights == whole.weights


@pytest.mark.parametrize("changed", ["weight", "vocabulary", "heads"])
def test_the_digest_covers_weights_vocabulary_and_heads(changed: str, tmp_path: Path) -> None:
    tiny_models.bert(tmp_path)
    before = load_masked(str(tmp_path)).weights
    if changed == "weight":
        change_weights(tmp_path, lambda t: t["cls.predictions.bias"].add_(1e-6))
    elif changed == "vocabulary":
        text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
        (tmp_path / "tokenizer.json").write_text(text.replace('"书"', '"本"'), encoding="utf-8")
    else:
        written = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps(written | {"num_attention_heads": 4}))
    assert load_masked(str(tmp_path)).weights != before


def test_half_precision_weights_are_computed_in_fp32(tmp_path: Path) -> None:
    tiny_models.bert(tmp_path)
    BertForMaskedLM.from_pretrained(tmp_path).half().save_pretrained(tmp_path)
    loaded = load_masked(str(tmp_path))
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    assert loaded.model.config._attn_implementation == "sdpa"
    assert not loaded.model.training


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/no/such/folder", "There is no folder"),
        ("a b", "neither a folder"),
        ("", "neither a folder"),
        ("a/b/c", "neither"),
    ],
)
def test_impossible_model_names_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(ModelUnavailable, match=sentence):
        load_masked(name)


def test_an_unreachable_hub_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(catalogue, "LOOK_UP_SECONDS", 0.05)
    never = threading.Event()
    monkeypatch.setattr(catalogue, "_file_names", lambda _name: never.wait(600))
    with pytest.raises(ModelUnavailable, match="did not answer"):
        catalogue.locate("nobody/nothing")
    never.set()


def test_offline_mode_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelUnavailable, match="Connect to the internet once"):
        catalogue.locate("nobody/nothing-offline")


def test_a_download_continues_in_the_background(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    finish = threading.Event()

    def download(_name: str, patterns: list[str]) -> Path:
        assert "model.safetensors" in patterns and "pytorch_model.bin" not in patterns
        finish.wait(600)
        return tmp_path

    monkeypatch.setattr(
        catalogue, "_file_names", lambda _name: ["config.json", "model.safetensors", "pytorch_model.bin"]
    )
    monkeypatch.setattr(catalogue, "_download", download)
    with pytest.raises(ModelUnavailable, match="Run again"):
        catalogue.locate("nobody/slow", patience=0.05)
    finish.set()
    assert catalogue.locate("nobody/slow", patience=600) == tmp_path


def test_a_hub_model_fetched_before_needs_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    path = tmp_path / "models--hfl--chinese-bert-wwm"
    (path / "refs").mkdir(parents=True)
    (path / "refs" / "main").write_text("0123abc")
    snapshot = path / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    assert catalogue.cached_snapshot("hfl/chinese-bert-wwm") is None  # begun, but not complete
    model = tiny_models.bert(snapshot)
    (snapshot / "model.safetensors").unlink()
    model.save_pretrained(snapshot, max_shard_size="4KB")
    last = sorted(snapshot.glob("model-*.safetensors"))[-1]
    last.rename(tmp_path / "not yet")
    assert catalogue.cached_snapshot("hfl/chinese-bert-wwm") is None  # a part is still missing
    (tmp_path / "not yet").rename(last)
    assert load_masked("hfl/chinese-bert-wwm").name == "hfl/chinese-bert-wwm"
    available = {entry.name: entry.available for entry in known_models()}
    assert available["hfl/chinese-bert-wwm"] and not available["bert-base-chinese"]


def test_offered_models_are_listed_by_kind() -> None:
    entries = known_models()
    assert [entry.name for entry in entries if entry.builtin] == ["known", "demo-zh", "random-zh", "demo-en"]
    assert [entry.name for entry in known_models("causal") if entry.builtin] == ["demo-en-causal"]
    assert {entry.task for entry in known_models(None)} == {"masked", "causal", "nli"}
    assert all(entry.available for entry in entries if entry.builtin)
    # The five models of Table 3 of the SlguSet paper, then those of the other masked-model study.
    listed = [entry.name for entry in entries if not entry.builtin]
    assert listed[:5] == [
        "bert-base-chinese",
        "hfl/chinese-bert-wwm",
        "hfl/chinese-bert-wwm-ext",
        "hfl/chinese-roberta-wwm-ext",
        "hfl/chinese-electra-180g-base-generator",
    ]
    assert {"en", "es", "eu", "mul"} <= {entry.language for entry in entries}


@pytest.mark.parametrize("name", ["known", "demo-zh"])
def test_built_in_model_folders_are_complete(name: str) -> None:
    folder = MODELS / name
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12_000_000
    assert {path.name for path in folder.iterdir()} >= {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "README.md",
    }
    vocabulary = load_masked(name).tokenizer.get_vocab()
    stems = {character for pair in keyword_pairs() for stem in pair.stems for character in stem}
    assert stems | {"它", "祂", "妳"} <= set(vocabulary)
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "not for findings" in card and "python -m training." in card


def test_demo_is_stored_in_half_precision() -> None:
    tensors = load_file(MODELS / "demo-zh" / "model.safetensors")
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}


def test_the_random_model_is_reproducible_and_keeps_the_global_generator() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = load_masked("random-zh")
    assert torch.equal(torch.rand(3), expected)
    assert load_masked("random-zh").weights == first.weights
    trained = load_masked("demo-zh")
    assert first.weights != trained.weights and first.parameters == trained.parameters


def test_an_opened_scorer_has_its_threads_and_name() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        scorer = open_scorer("known", threads=1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert scorer.signature.startswith("masked|known|weights:") and scorer.signature.endswith("|independent|fp32|v1")
    assert scorer.score([MaskedSentence("他来了。", 0, 1, ("他", "她"))])[0].signature == scorer.signature
