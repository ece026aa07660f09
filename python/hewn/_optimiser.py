"""The fused optimiser of the C++ library."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import torch

from . import _C
from ._errors import Error
from ._pruner import Pruner
from ._torch_optim import average_gradients


class Optimiser(torch.optim.Optimizer):
    """SGD, Adam and AdamW in one pass over each tensor, for a pruner's model and its logits.

    Dropped blocks and their state are left alone, so that a step costs what is kept. Learning-rate schedulers of
    torch.optim work on it.

    >>> import torch, hewn
    >>> model = torch.nn.Linear(64, 64)
    >>> pruner = hewn.Pruner(model, block=4, sparsity=0.5, steps=20)
    >>> optimizer = hewn.Optimiser(pruner, lr=0.1, momentum=0.9)
    >>> for step in range(20):
    ...     moment = pruner.step()
    ...     optimizer.zero_grad(); model(torch.randn(8, 64)).square().mean().backward(); optimizer.step()
    >>> pruner.finish()["" ].density
    0.5
    """

    def __init__(
        self,
        pruner: Pruner,
        kind: str = "sgd",
        *,
        lr: float = 0.1,
        weight_decay: float = 0.0,
        decay_all: bool = False,
        momentum: float = 0.9,
        nesterov: bool = True,
        betas: Tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        clip_norm: Optional[float] = None,
    ):
        if pruner._torch_optim is not None:
            raise Error("Optimiser: the pruner was made with optimizer=, which trains the model already")
        self._pruner = pruner
        options = dict(kind=kind, lr=lr, weight_decay=weight_decay, decay_all=decay_all, momentum=momentum,
                       nesterov=nesterov, beta1=betas[0], beta2=betas[1], eps=eps, clip_norm=clip_norm)
        self._native = _C.Optimiser(pruner._native, options)
        pruner._activate()
        dist = torch.distributed
        several = dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1
        if several:
            pruner._native.set_execution("off")  # what averages gradients must find them in the parameters
        for gate in pruner._gates.values():
            gate.compact = not several
        self._logits = [row["tensor"] for row in pruner._native.score_parameters()]
        super().__init__(self._native.tensors(), {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:  # type: ignore[override]
        """Updates all tensors from their gradients."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        average_gradients(self._logits)
        self._native.step(float(self.param_groups[0]["lr"]))
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets all gradients."""
        self._native.zero_grad()

    def state_dict(self) -> Dict[str, Any]:
        """Moments and rates; tensors are copies."""
        group = {key: value for key, value in self.param_groups[0].items() if key != "params"}
        tensors = {name: tensor.clone() for name, tensor in self._native.state().items()}
        return {"group": group, "steps": self._native.steps, "tensors": tensors}

    def load_state_dict(self, state: Dict[str, Any]) -> None:  # type: ignore[override]
        own = self._native.state()
        if not isinstance(state, dict) or set(state.get("tensors", {})) != set(own):
            raise Error("load_state_dict: the state is of another model, method or kind of optimiser")
        for name, tensor in own.items():
            tensor.copy_(state["tensors"][name])
        self._native.steps = state["steps"]
        self.param_groups[0].update(state["group"])
