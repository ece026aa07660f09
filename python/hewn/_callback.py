"""Pruning inside a trainer that calls back."""

from __future__ import annotations

from typing import Any, Dict, Optional

from ._blocks import Blocks
from ._errors import Error
from ._pruner import Pruner

_HOOKS = ("setup", "teardown", "state_key")


class PrunerCallback:
    """A `Pruner` for Lightning and trainers like it. Takes the pruner's own arguments.

    It needs no Lightning: hooks that it does not use are accepted and do nothing. The number of steps is the trainer's
    ``estimated_stepping_batches`` unless given. After the fit `blocks` has the kept blocks and the module is a plain
    one, with zeros.

        callback = hewn.PrunerCallback(sparsity=0.9, block=16)
        pytorch_lightning.Trainer(max_epochs=10, callbacks=[callback]).fit(module, loader)
    """

    def __init__(self, method: Optional[str] = None, *, steps: Optional[int] = None, **options: Any):
        self._method = method
        self._steps = steps
        self._options = options
        self._begun = -1
        self._state: Optional[Dict[str, Any]] = None
        self.pruner: Optional[Pruner] = None
        self.blocks: Optional[Blocks] = None

    def on_fit_start(self, trainer: Any, module: Any) -> None:
        optimizers = list(trainer.optimizers)
        if len(optimizers) != 1:
            raise Error(f"PrunerCallback: expected one optimiser, got {len(optimizers)}")
        optimizer = getattr(optimizers[0], "optimizer", optimizers[0])
        configs = getattr(trainer, "lr_scheduler_configs", None) or []
        scheduler = configs[0].scheduler if configs else None
        steps = self._steps if self._steps is not None else int(trainer.estimated_stepping_batches)
        self.pruner = Pruner(module, self._method, steps=steps, optimizer=optimizer, scheduler=scheduler,
                             **self._options)
        self._begun = -1
        if self._state is not None:
            self.pruner.load_state_dict(self._state)
            self._begun = int(self._state["steps"]) - 1
            self._state = None

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int, *rest: Any) -> None:
        # Batches whose gradients are added up are one step.
        if self.pruner is not None and trainer.global_step != self._begun:
            self.pruner.step()
            self._begun = trainer.global_step

    def on_train_end(self, trainer: Any, module: Any) -> None:
        # Not at the end of the fit: by then Lightning has moved the module to the CPU.
        if self.pruner is not None and self.pruner.moment is not None and self.pruner.moment.phase == "SPARSE":
            self.blocks = self.pruner.finish()
            self.pruner = None

    def state_dict(self) -> Dict[str, Any]:
        return {} if self.pruner is None else self.pruner.state_dict()

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        self._state = state or None

    @property
    def state_key(self) -> str:
        return type(self).__qualname__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_") or name in _HOOKS:
            return lambda *args, **kwargs: None
        raise AttributeError(name)
