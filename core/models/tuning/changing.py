"""A model that is there to be changed, and a changed one written as a folder that loads like any other."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import torch

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.models.checks import Task
from evenhand.core.models.devices import chosen
from evenhand.core.models.loading import load_causal, load_masked, task_of
from evenhand.core.models.tuning.held_out import held_out
from evenhand.core.models.tuning.memory import forecast
from evenhand.core.models.tuning.settings import HeldOut, Memory, Tuning
from evenhand.core.models.tuning.training import OnLook, OnStep, Trained, train

ALPHA = 2  # times the rank
# What configs call the dropout of hidden states and of attention.
HIDDEN = ("hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "embd_pdrop", "dropout", "activation_dropout")
ATTENTION = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop")
# Where a layer of dropout belongs to attention: BERT and its kin, GPT-2; attention.output.dropout is of hidden states.
OF_ATTENTION = ("attention.self.dropout", "attn_dropout", "self_attn.dropout")
NO_DROPOUT = N_("The configuration of {name} has no dropout to set.")
NO_ADAPTERS = N_("{name} has no linear layers to which adapters can be added.")


class Changeable:
    """A loaded model whose weights may change; `before` is what it was loaded as."""

    def __init__(self, name: str, *, dropout: tuple[float, float] | None = None, device: str = "auto") -> None:
        """Raises ModelUnavailable as `core.models.loading`, and where a dropout that is asked for cannot be set."""
        self.name = name
        self.task: Task = task_of(name)
        load = load_masked if self.task == "masked" else load_causal
        self.before = load(name, device=str(chosen(device)))
        self.model, self.tokenizer = self.before.model, self.before.tokenizer
        self._padding = self.tokenizer.pad_token
        if self._padding is None:  # batches need one; what stands there is never read
            self.tokenizer.pad_token = self.tokenizer.eos_token or self.tokenizer.convert_ids_to_tokens(0)
        if dropout is not None:
            self._set_dropout(dropout)
        self.model.requires_grad_(True)

    def _set_dropout(self, dropout: tuple[float, float]) -> None:
        """Set the shares in the config and in every layer that was made from it."""
        config = self.model.config
        names: dict[str, float] = {}
        for share, known in zip(dropout, (HIDDEN, ATTENTION), strict=True):
            names |= {name: share for name in known if isinstance(getattr(config, name, None), int | float)}
        if not names:
            raise ModelUnavailable(NO_DROPOUT, name=self.name)
        for name, share in names.items():
            setattr(config, name, share)
        for path, layer in self.model.named_modules():
            if isinstance(layer, torch.nn.Dropout):
                layer.p = dropout[path.endswith(OF_ATTENTION)]

    def rows(self, texts: Sequence[str], length: int) -> list[list[int]]:
        """The token ids of each text with what the tokenizer puts around it, at most *length* of them; texts with
        fewer than one token of their own are left out."""
        longest = min(length, getattr(self.model.config, "max_position_embeddings", None) or length)
        empty = len(self.tokenizer("")["input_ids"])
        # Cut here: a backend that is told to truncate would do so for every later question too.
        found = (self.tokenizer(text, truncation=True, max_length=longest)["input_ids"] for text in texts)
        return [list(ids) for ids in found if len(ids) > max(empty, 1)]

    def held_out(self, rows: Sequence[list[int]]) -> HeldOut:
        """How well it predicts these texts now."""
        return held_out(self.model, self.tokenizer, rows, self.task)

    def put_adapters(self, rank: int, seed: int) -> None:
        """Train adapters of *rank* on every linear layer but the output in place of the weights (LoRA)."""
        from peft import LoraConfig, get_peft_model

        torch.manual_seed(seed)
        config = LoraConfig(r=rank, lora_alpha=ALPHA * rank, target_modules="all-linear", bias="none")
        try:
            with warnings.catch_warnings():  # of transformers, over a name that peft still uses
                warnings.filterwarnings("ignore", ".*is_gradient_checkpointing", FutureWarning)
                self.model = get_peft_model(self.model, config)
        except ValueError:
            raise ModelUnavailable(NO_ADAPTERS, name=self.name) from None

    def forecast(self, tuning: Tuning) -> Memory:
        """What training it will take."""
        trained = sum(one.numel() for one in self.model.parameters() if one.requires_grad)
        return forecast(self.model, tuning, trained)

    def train(
        self,
        texts: Sequence[list[int]],
        untouched: Sequence[list[int]],
        tuning: Tuning,
        work: Path,
        *,
        on_step: OnStep | None = None,
        on_look: OnLook | None = None,
    ) -> Trained:
        """Train it; see `core.models.tuning.training.train`. The random state of the process stays what it was."""
        with torch.random.fork_rng():
            torch.manual_seed(tuning.seed)
            looks = {"on_step": on_step, "on_look": on_look}
            return train(self.model, self.tokenizer, self.task, texts, untouched, tuning, work, **looks)  # type: ignore[arg-type]

    def save(self, folder: Path, *, adapters: bool = False) -> None:
        """Write it to *folder* as any checkpoint: config, safetensors in fp32, tokenizer; adapters are merged.

        *adapters*: also as they are, in the folder `adapter`.
        """
        model = self.model
        if hasattr(model, "merge_and_unload"):
            if adapters:
                model.save_pretrained(folder / "adapter")
            model = model.merge_and_unload()
        model.eval().save_pretrained(folder)
        padding, self.tokenizer.pad_token = self.tokenizer.pad_token, self._padding
        self.tokenizer.save_pretrained(folder)
        self.tokenizer.pad_token = padding
