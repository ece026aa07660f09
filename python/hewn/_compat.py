"""The differences between PyTorch 1.13 and 2.x that the package meets, in one place."""

from __future__ import annotations

import functools
import types
from typing import Any, Callable

import torch


def _never() -> bool:
    return False


# Whether torch.compile is tracing right now. PyTorch's own function, which tracing knows: every read of a weight asks.
is_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", _never)


class StepHooks:
    """Calls `before` and `after` around every step of an optimiser, until removed."""

    def __init__(self, optimizer: torch.optim.Optimizer, before: Callable[[], None], after: Callable[[], None]):
        self._optimizer = optimizer
        self._on = True
        if hasattr(optimizer, "register_step_pre_hook"):
            first = optimizer.register_step_pre_hook(lambda *_: before())
            last = optimizer.register_step_post_hook(lambda *_: after())
            self._handles = [first, last]
            return
        self._handles = []
        inner = optimizer.step

        # Schedulers of 1.13 want a bound method, and copy what is written on it.
        @functools.wraps(inner)
        def step(_self: Any, *args: Any, **kwargs: Any) -> Any:
            if self._on:
                before()
            result = inner(*args, **kwargs)
            if self._on:
                after()
            return result

        optimizer.step = types.MethodType(step, optimizer)  # type: ignore[method-assign]

    def remove(self) -> None:
        self._on = False
        for handle in self._handles:
            handle.remove()


def scheduled(optimizer: torch.optim.Optimizer) -> bool:
    """Whether a learning-rate scheduler was made for the optimiser."""
    step = optimizer.step
    return hasattr(step, "_with_counter") or hasattr(step, "_wrapped_by_lr_sched")
