"""A model that is there to be changed: trained further with transformers' Trainer, asked how well it still predicts
held-out texts, and written as a folder that loads like any other.

A killed run can continue and ends in the same numbers: the text of each step, and which of its tokens are masked,
follows from the seed and the step; dropout draws from torch's random state, which a checkpoint holds.
"""

import random
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    DataCollatorForLanguageModeling,
    EarlyStoppingCallback,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from evenhand.core.errors import N_, EvenhandError, ModelUnavailable
from evenhand.core.models.forward import padded, padded_batches
from evenhand.core.models.loaded import Task, chosen
from evenhand.core.models.loading import load_model, task_of
from evenhand.core.models.tuning.settings import MASKED_SHARE, HeldOut, Memory, Tuning, needed

TOKENS_AT_ONCE = 8192  # padded tokens of a batch
SEED = 20260101  # of the masked places: the same for every model with this tokenizer


@torch.inference_mode()
def held_out(model: Any, tokenizer: Any, rows: Sequence[list[int]], task: Task) -> HeldOut:
    """Return the results of *model* on texts as token ids, without dropout. No random state is touched.

    Masked: 15 % of the tokens of a text, at least one, drawn by a fixed seed, all of them become the mask token, so the
    loss is that of a pseudo-perplexity estimated on these places. Causal: every token but the first.
    """
    training = model.training
    model.eval()
    places = torch.Generator().manual_seed(SEED)
    hidden = [_masked_places(row, tokenizer, places) if task == "masked" else [] for row in rows]
    values: dict[int, tuple[float, int, int]] = {}
    device = next(model.parameters()).device
    for batch in padded_batches([len(row) for row in rows], TOKENS_AT_ONCE):
        ids = padded([rows[i] for i in batch], tokenizer.pad_token_id or 0, "cpu")
        wanted = torch.full_like(ids, -100)
        given = ids.clone()
        for line, i in enumerate(batch):
            if task == "masked":
                wanted[line, hidden[i]] = ids[line, hidden[i]]
                given[line, hidden[i]] = tokenizer.mask_token_id
            else:
                wanted[line, : len(rows[i]) - 1] = ids[line, 1 : len(rows[i])]
        attention = padded([[1] * len(rows[i]) for i in batch], 0, device)
        logits = model(input_ids=given.to(device), attention_mask=attention).logits.float().cpu()
        values |= {i: _of_text(logits[line], wanted[line]) for line, i in enumerate(batch)}
    model.train(training)
    per_text = tuple(values[i] for i in range(len(rows)))
    total, tokens, right = (sum(column) for column in zip(*per_text, strict=True)) if per_text else (0.0, 0, 0)
    if not tokens:
        return HeldOut(float("nan"), float("nan"), 0, len(rows), per_text)
    return HeldOut(total / tokens, right / tokens, int(tokens), len(rows), per_text)


def _of_text(logits: torch.Tensor, wanted: torch.Tensor) -> tuple[float, int, int]:
    asked = wanted != -100
    terms = torch.nn.functional.cross_entropy(logits[asked], wanted[asked], reduction="sum")
    return float(terms), int(asked.sum()), int((logits[asked].argmax(-1) == wanted[asked]).sum())


def _masked_places(row: list[int], tokenizer: Any, places: torch.Generator) -> list[int]:
    special = set(tokenizer.all_special_ids)
    free = [i for i, token in enumerate(row) if token not in special]
    count = min(len(free), max(1, round(MASKED_SHARE * len(free))))
    order = torch.randperm(len(free), generator=places).tolist()
    return sorted(free[i] for i in order[:count])


WHOLE = "whole"  # the file that says that a checkpoint is complete
CHECKPOINTS_KEPT = 2  # checkpoints: the one before is there while the next is being written
LATEST = "checkpoint-"

DIVERGED = N_("Training diverged at step {step}: the loss is not a number. Use a smaller learning rate.")

OnStep = Callable[[int, int], None]  # steps done, of how many
OnLook = Callable[
    [int, float | None, HeldOut], None
]  # step, mean training loss since the look before, held-out figures


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training run: number of steps, step of the result (None: the last), whether it was resumed."""

    steps: int
    best_step: int | None
    early: bool
    resumed_at: int


class _Texts(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """The texts of every step in order: each comes once before any comes again; every round is shuffled by the seed."""

    def __init__(self, rows: Sequence[list[int]], tuning: Tuning) -> None:
        self._rows, self._count, self._seed = rows, tuning.steps * tuning.batch, tuning.seed
        self._orders: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Mapping[str, object]:
        lap, place = divmod(number, len(self._rows))
        if lap not in self._orders:
            order = list(range(len(self._rows)))
            random.Random(f"{self._seed}/{lap}").shuffle(order)  # noqa: S311  order of texts, no secret
            self._orders = {lap: order} | {known: self._orders[known] for known in self._orders if known == lap - 1}
        return {"input_ids": self._rows[self._orders[lap][place]], "number": number}


class _Collator:
    """The collator of transformers, whose masks follow from the seed and the place of the batch in the run."""

    def __init__(self, tokenizer: Any, task: Task, seed: int) -> None:
        self._collate: Any = DataCollatorForLanguageModeling(
            tokenizer, mlm=task == "masked", mlm_probability=MASKED_SHARE
        )
        self._tokenizer, self._seed = tokenizer, seed

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        first = examples[0]["number"]
        self._collate.generator = torch.Generator().manual_seed((self._seed << 32) + first)
        texts = [example["input_ids"] for example in examples]
        ids = padded(texts, self._tokenizer.pad_token_id or 0, "cpu").tolist()
        seen = padded([[1] * len(text) for text in texts], 0, "cpu").tolist()
        rows = [{"input_ids": row, "attention_mask": mask} for row, mask in zip(ids, seen, strict=True)]
        while True:  # few short texts may have drawn no mask at all, and the mean loss over nothing is NaN
            batch = dict(self._collate([dict(row) for row in rows]))
            batch["labels"][batch["attention_mask"] == 0] = -100  # a causal tokenizer pads with a token of its own
            if bool((batch["labels"] != -100).any()):
                return batch


class _Run(Trainer):
    """The Trainer, which looks at held-out texts in a way of its own and takes the texts in their order."""

    look: Callable[[int], HeldOut]

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        texts: Any = self.train_dataset if train_dataset is None else train_dataset
        return torch.utils.data.SequentialSampler(texts)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        out = self.look(self.state.global_step)
        metrics = {"eval_loss": out.loss, "eval_accuracy": out.accuracy}
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics


class _Follow(TrainerCallback):
    """Reports steps, marks whole checkpoints, and refuses a loss that is not a number."""

    def __init__(self, on_step: OnStep | None) -> None:
        self._on_step = on_step
        self.losses: list[float] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._on_step is not None:
            self._on_step(state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        if not torch.isfinite(torch.tensor(float(loss))):
            raise EvenhandError(DIVERGED, step=state.global_step)
        self.losses.append(float(loss))

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        (Path(args.output_dir) / f"{LATEST}{state.global_step}" / WHOLE).touch()


def _arguments(tuning: Tuning, work: Path, model: Any) -> TrainingArguments:
    on_processor = next(model.parameters()).device.type == "cpu"
    return TrainingArguments(
        output_dir=str(work), max_steps=tuning.steps, per_device_train_batch_size=tuning.batch, seed=tuning.seed,
        learning_rate=tuning.rate, warmup_steps=tuning.warmup, weight_decay=tuning.decay, lr_scheduler_type="linear",
        optim="adamw_torch", eval_strategy="steps", eval_steps=tuning.every, save_strategy="steps",
        save_steps=tuning.every, save_total_limit=CHECKPOINTS_KEPT, load_best_model_at_end=bool(tuning.patience),
        metric_for_best_model="eval_loss", greater_is_better=False, logging_steps=min(10, tuning.every),
        restore_callback_states_from_checkpoint=bool(tuning.patience), disable_tqdm=True, report_to="none",
        use_cpu=on_processor, bf16=not on_processor, dataloader_pin_memory=not on_processor,
        remove_unused_columns=False, log_level="error", logging_nan_inf_filter=False,
    )  # fmt: skip


def latest_checkpoint(work: Path) -> Path | None:
    """Return the newest complete checkpoint in *work*; incomplete ones are removed."""
    whole = []
    for folder in work.glob(f"{LATEST}*"):
        if (folder / WHOLE).is_file():
            whole.append(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return max(whole, key=lambda folder: int(folder.name.removeprefix(LATEST)), default=None)


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
        """Load a model to train. Raises ModelUnavailable as `core.models.loading`, and if dropout cannot be set."""
        self.name = name
        self.task: Task = task_of(name)
        self.before = load_model(name, self.task, device=str(chosen(device)))
        self.model, self.tokenizer = self.before.model, self.before.tokenizer
        self._padding = self.tokenizer.pad_token
        if self._padding is None:  # batches need one; the padding is never read
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
        """Return the token ids of each text, at most *length* with the tokenizer's additions.

        Texts without a token of their own are left out.
        """
        longest = min(length, getattr(self.model.config, "max_position_embeddings", None) or length)
        empty = len(self.tokenizer("")["input_ids"])
        # Cut here: a backend that is told to truncate would do so for every later question too.
        result = (self.tokenizer(text, truncation=True, max_length=longest)["input_ids"] for text in texts)
        return [list(ids) for ids in result if len(ids) > max(empty, 1)]

    def held_out(self, rows: Sequence[list[int]]) -> HeldOut:
        """Return how well the model predicts these texts now."""
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
        """Return the memory that training will take."""
        config, trained = self.model.config.get_text_config(), [p for p in self.model.parameters() if p.requires_grad]
        numbers, changing = (sum(p.numel() for p in some) for some in (self.model.parameters(), trained))
        names = ("num_hidden_layers", "hidden_size", "num_attention_heads")
        layers, width, heads = (int(getattr(config, name, 0)) for name in names)
        return needed(numbers, changing, layers, width, heads, int(config.vocab_size), tuning)

    def train(
        self, texts: Sequence[list[int]], untouched: Sequence[list[int]], tuning: Tuning, work: Path, *,
        on_step: OnStep | None = None, on_look: OnLook | None = None,
    ) -> Trained:  # fmt: skip
        """Train its parameters that want gradients on *texts*, token ids, in place; look at *untouched* texts.

        *work*: the folder of checkpoints; a run with whole ones there continues from the latest. fp32 on a processor,
        bf16 on an accelerator. The random state of the process does not change. Raises EvenhandError where the loss
        is not a number.
        """
        with torch.random.fork_rng():
            torch.manual_seed(tuning.seed)
            follow = _Follow(on_step)
            run = _Run(
                model=self.model,
                args=_arguments(tuning, work, self.model),
                data_collator=_Collator(self.tokenizer, self.task, tuning.seed),
                train_dataset=_Texts(texts, tuning),
                eval_dataset=[],
                callbacks=[follow, *([EarlyStoppingCallback(tuning.patience)] if tuning.patience else [])],
            )
            run.remove_callback(PrinterCallback)

            def look(step: int) -> HeldOut:
                found = self.held_out(untouched)
                if on_look is not None:
                    on_look(step, follow.losses[-1] if follow.losses else None, found)
                return found

            run.look = look
            checkpoint = latest_checkpoint(work)
            run.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        state = run.state
        best = state.best_model_checkpoint
        return Trained(
            state.global_step,
            int(Path(best).name.removeprefix(LATEST)) if best and tuning.patience else None,
            state.global_step < tuning.steps,
            int(checkpoint.name.removeprefix(LATEST)) if checkpoint else 0,
        )

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
