"""Where a model computes. It is no part of a signature: fp32 is fp32 everywhere, and rounding differs by under 1e-4."""

import torch

from evenhand.core.errors import N_, ModelUnavailable


def chosen(device: str) -> torch.device:
    """The device of that name; "auto" is the first of CUDA, MPS and the processor that this machine has.

    Raises ModelUnavailable for one that is not there. TensorFloat-32 stays off, which would change the numbers.
    """
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    name = next(name for name, here in present.items() if here) if device == "auto" else device
    kind = name.partition(":")[0]
    if not present.get(kind, False):
        known = ", ".join(name for name, here in present.items() if here)
        raise ModelUnavailable(
            N_("torch finds no device {device} on this machine. Available: {known}"), device=name, known=known
        )
    if kind == "cuda":
        torch.backends.cuda.matmul.allow_tf32 = False
    return torch.device(name)


def use_threads(number: int) -> None:
    """How many threads this process computes with."""
    torch.set_num_threads(number)
