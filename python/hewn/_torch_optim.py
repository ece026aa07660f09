"""Makes an optimiser of torch.optim train a pruner's logits too, and leave dropped weights alone."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import torch

from . import _C
from ._compat import StepHooks, scheduled
from ._errors import Error

_RATES = ("lr", "initial_lr", "max_lr", "min_lr")


def is_adam(optimizer: torch.optim.Optimizer) -> bool:
    """Whether the optimiser divides gradients by their size, as Adam does."""
    return any("betas" in group for group in optimizer.param_groups) or "Adam" in type(optimizer).__name__


def average_gradients(tensors: List[torch.Tensor]) -> None:
    """The mean of gradients over all processes, in one message."""
    dist = torch.distributed
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() < 2 or not tensors:
        return
    for tensor in tensors:
        if tensor.grad is None:
            tensor.grad = torch.zeros_like(tensor)
    flat = torch.cat([tensor.grad.reshape(-1) for tensor in tensors])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
        tensor.grad.copy_(part.view_as(tensor))


class TorchOptim:
    """The logits as groups of the optimiser: one for every group that holds pruned weights."""

    def __init__(self, pruner: Any, optimizer: torch.optim.Optimizer, scheduler: Optional[Any]):
        self.optimizer = optimizer
        self._native = pruner._native
        recipe = self._native.recipe()
        self._factor: float = recipe["logit_lr"]
        self._clip: float = recipe["clip_grad"]
        self._rows: List[Dict[str, Any]] = self._native.score_parameters()
        self._logits: List[torch.Tensor] = [row["tensor"] for row in self._rows]
        self._trained = [*(p for _, p in pruner.model.named_parameters()), *self._logits]
        self._made_with_state = bool(optimizer.state)  # as Adagrad's is
        self._l1: List[Tuple[torch.Tensor, float]] = []  # those decayed by their sign, and how much
        self._pairs = self._add_groups(recipe["logit_decay"], scheduler)
        self._complete()
        self.hooks = StepHooks(optimizer, self._before, self._after)

    def _add_groups(self, decay: Optional[float], scheduler: Optional[Any]) -> List[Any]:
        """Pairs of the weights' group and that of their logits."""
        groups = list(self.optimizer.param_groups)
        home = {id(tensor): i for i, group in enumerate(groups) for tensor in group["params"]}
        by_group: Dict[int, List[Dict[str, Any]]] = {}
        for row in self._rows:
            if id(row["leaf"]) not in home:
                raise Error(f"optimizer: does not train the weight of layer {row['layer']}, which is to be pruned")
            by_group.setdefault(home[id(row["leaf"])], []).append(row)
        if by_group and scheduler is None and scheduled(self.optimizer):
            raise Error("optimizer: a learning-rate scheduler was made before the pruner; make it after, or give it as "
                        "scheduler=")
        pairs = []
        for i, rows in by_group.items():
            options = {key: value for key, value in groups[i].items() if key != "params"}
            options.pop("param_names", None)
            for rate in _RATES:
                if rate in options:
                    options[rate] = options[rate] * self._factor
            own = options.get("weight_decay", 0) if decay is None else decay
            l1 = [row for row in rows if row["l1"]]
            self._l1 += [(row["tensor"], own) for row in l1 if own]
            if "weight_decay" in options:
                options["weight_decay"] = 0 if l1 else own
            self.optimizer.add_param_group({**options, "params": [row["tensor"] for row in rows]})
            logits = self.optimizer.param_groups[-1]
            pairs.append((groups[i], logits, rows))
            if scheduler is not None:
                _follow(scheduler, i, self._factor)
        return pairs

    def _before(self) -> None:
        for weights, logits, _ in self._pairs:
            logits["lr"] = weights["lr"] * self._factor
        with torch.no_grad():
            average_gradients(self._logits)
            for tensor, decay in self._l1:
                if tensor.grad is not None:
                    tensor.grad.add_(tensor.sign(), alpha=decay)
            if self._clip > 0:
                _C.clip_gradients(self._trained, self._clip)
            for _, logits, rows in self._pairs:
                if rows[0]["shared_moment"] and "betas" in logits:
                    self._step_shared(logits, rows)

    def _after(self) -> None:
        self._native.restore_dropped()

    def _step_shared(self, group: Dict[str, Any], rows: List[Dict[str, Any]]) -> None:
        """Adam with one second moment for all logits of a layer, which torch.optim has not."""
        beta1, beta2 = group["betas"]
        decoupled = "AdamW" in type(self.optimizer).__name__ or group.get("decoupled_weight_decay", False)
        for row in rows:
            tensor = row["tensor"]
            grad, tensor.grad = tensor.grad, None  # the optimiser itself leaves it alone
            if grad is None:
                continue
            state = self.optimizer.state[tensor]
            if not state:
                state["step"] = torch.zeros(())
                state["exp_avg"] = torch.zeros_like(tensor)
                state["exp_avg_sq"] = torch.zeros_like(tensor)
            state["step"] += 1
            step = state["step"].item()
            if not decoupled:
                grad = grad + group["weight_decay"] * tensor
            state["exp_avg"].mul_(beta1).add_(grad, alpha=1 - beta1)
            state["exp_avg_sq"].mul_(beta2).add_(grad.square().mean(), alpha=1 - beta2)
            if decoupled:
                tensor.mul_(1 - group["lr"] * group["weight_decay"])
            root = (state["exp_avg_sq"] / (1 - beta2**step)).sqrt_().add_(group["eps"])
            tensor.addcdiv_(state["exp_avg"], root, value=-group["lr"] / (1 - beta1**step))

    def forget(self) -> None:
        """Clears momentum and moments."""
        self.optimizer.state.clear()
        self._complete()

    def _complete(self) -> None:
        """Gives all tensors the state that this kind of optimiser makes when it is made."""
        if not self._made_with_state:
            return
        for tensor, state in type(self.optimizer)(self.optimizer.param_groups, **self.optimizer.defaults).state.items():
            self.optimizer.state.setdefault(tensor, state)


def _follow(scheduler: Any, group: int, factor: float) -> None:
    """Makes a scheduler that exists already treat the newest group like another one."""
    for name in ("base_lrs", "min_lrs", "lr_lambdas", "_last_lr", "max_lrs"):
        values = getattr(scheduler, name, None)
        if isinstance(values, list) and len(values) > group:
            value = values[group]
            values.append(value if callable(value) else value * factor)
