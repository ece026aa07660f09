"""Pruning a module in the user's own training loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import torch
from torch import nn

from . import _C
from ._blocks import Blocks, blocks_from
from ._errors import Error
from ._files import note_blocks
from ._gated import Gate, add_gate, fold, remove_gates
from ._slots import Slot, chosen, find_slots, unwrapped
from ._summary import Table
from ._torch_optim import TorchOptim, is_adam

Choice = Union[str, Sequence[str], Callable[[str, nn.Module], bool]]

_ALL = 1_000_000  # steps of a training that is measured by its progress


@dataclass(frozen=True)
class Moment:
    """Where a training is: what `Pruner.step` returns."""

    phase: str  # DENSE, SPARSIFICATION or SPARSE
    index: int  # number of the phase
    progress: float  # how much of the phase has passed, in [0, 1)
    entered: bool  # the phase begins with this step
    reset: bool  # optimiser state was cleared for it


class Pruner:
    """Prunes a module while it trains.

    Pruned are the weights of Linear, Conv1d and Conv2d layers (with groups: each group by itself), the packed
    projections of MultiheadAttention and, with ``embeddings=True``, Embedding tables. A weight that layers share is
    pruned once, for all of them. The module keeps its parameters and the keys of its state dict; whoever reads a
    pruned weight (``layer.weight``) gets it as the network computes with it. After `finish` the module is a plain one
    again, with zeros.

    Args:
        model: the module, on the device where it will be trained.
        method: see ``hewn methods``; none: the one that suits network and optimiser.
        block: size of blocks, a number or (inputs, outputs).
        sparsity: fraction of each layer's blocks to drop.
        steps: training steps that there will be; none: `step` is told the progress.
        optimizer: any of torch.optim. The logits are added to it as groups of their own. With `hewn.Optimiser` leave
            it out.
        include, exclude: which layers may be pruned: patterns of names, or a function of name and module.
        scheduler: a learning-rate scheduler that was made before the pruner.
        options: parts of the method to replace, by the names that ``hewn train --help`` has for them: ``score``,
            ``schedule``, ``drop``, ``logit_lr``, ``min_blocks`` and others.

    >>> import torch, hewn
    >>> model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> pruner = hewn.Pruner(model, block=4, sparsity=0.75, steps=40, optimizer=optimizer, exclude="2")
    >>> for step in range(40):
    ...     moment = pruner.step()
    ...     loss = model(torch.randn(16, 64)).square().mean()
    ...     optimizer.zero_grad(); loss.backward(); optimizer.step()
    >>> blocks = pruner.finish()
    >>> len(blocks["0"].kept), blocks["0"].blocks
    (64, 256)
    """

    def __init__(
        self,
        model: nn.Module,
        method: Optional[str] = None,
        *,
        block: Union[int, Tuple[int, int]] = 16,
        sparsity: float = 0.9,
        steps: Optional[int] = None,
        optimizer: Optional[torch.optim.Optimizer] = None,
        include: Choice = "*",
        exclude: Choice = (),
        embeddings: bool = False,
        scheduler: Optional[Any] = None,
        support: Optional[Blocks] = None,
        **options: Any,
    ):
        self.model = unwrapped(model)
        self._slots: List[Slot] = find_slots(self.model, embeddings)
        given: Dict[str, Any] = {"block": block, "sparsity": sparsity, "steps": _ALL if steps is None else steps}
        if method is not None:
            given["method"] = method
        given["prune-layers"], given["except"] = self._choose(include, exclude)
        given.update({key.replace("_", "-"): value for key, value in options.items() if value is not None})
        self._counted = steps is not None
        self._native = _C.Pruner(
            [slot.native() for slot in self._slots],
            list(self.model.named_parameters()),
            {key: _text(value) for key, value in given.items() if value != []},
            {name: kept.native() for name, kept in (support or {}).items()},
        )
        self._followers: List[nn.Module] = []
        self._gates: Dict[str, Gate] = {}
        self._layers: Dict[str, Any] = {}
        self._moment: Optional[Moment] = None
        self._finished = False
        self._torch_optim: Optional[TorchOptim] = None
        if optimizer is not None:
            self._native.trained_by(is_adam(optimizer))
            self._activate()
            self._torch_optim = TorchOptim(self, optimizer, scheduler)

    def _choose(self, include: Choice, exclude: Choice) -> Tuple[Any, Any]:
        if callable(exclude):
            rejects = exclude
            exclude = chosen(self._slots, rejects)
        if callable(include):
            include = chosen(self._slots, include)
            if not include:
                raise Error("include: the function takes no layer, so nothing would be pruned")
        return include, [exclude] if isinstance(exclude, str) else list(exclude)

    def _activate(self) -> None:
        """Puts the gates between the weights and those who read them."""
        if self._gates or self._finished:
            return
        recipe = self._native.recipe()
        logits = {row["layer"]: row["tensor"] for row in self._native.score_parameters()}
        self._layers = {layer.name: layer for layer in self._native.layers()}
        for slot in self._slots:
            layer = self._layers.get(slot.name)
            if layer is None:
                continue
            gate = Gate(layer, recipe, logits.get(slot.name))
            gate.refresh()
            self._gates[slot.name] = gate
            for module, attribute in slot.readers:
                add_gate(module, attribute, gate)

    def step(self, progress: Optional[float] = None) -> Moment:
        """Before every training step's forward pass: the phase and the kept blocks of the step that comes.

        Where the pruner was made without `steps`, `progress` says how much of the training lies behind, in [0, 1].
        """
        if self._counted == (progress is not None):
            raise Error("step: the pruner was made with steps=, which it counts itself; leave progress out"
                        if self._counted else
                        "step: the pruner was made without steps=; say progress=, how much of the training is done")
        self._activate()
        place = None if progress is None else min(_ALL - 1, max(0, int(progress * _ALL)))
        self._moment = Moment(*self._native.advance(place))
        if self._torch_optim is not None and self._moment.reset:
            self._torch_optim.forget()
        if self._moment.entered or self._moment.phase == "SPARSIFICATION":
            self._supports_changed()
        return self._moment

    def _supports_changed(self) -> None:
        if self._torch_optim is not None:
            self._native.remember_dropped()
        for gate in self._gates.values():
            gate.refresh()

    def follow(self, copy: nn.Module) -> None:
        """Makes a copy of the model, such as a moving average of its weights, see the current gates and blocks.

        A copy that does not follow keeps those of the moment in which it was made.
        """
        self._activate()
        modules = dict(unwrapped(copy).named_modules())
        names = {id(module): name for name, module in self.model.named_modules()}
        prefix = "" if all(names[id(s.readers[0][0])] in modules for s in self._slots) else "module."
        for slot in self._slots:
            if slot.name in self._gates:
                for module, attribute in slot.readers:
                    add_gate(modules[prefix + names[id(module)]], attribute, self._gates[slot.name])
        self._followers.append(copy)

    def finish(self) -> Blocks:
        """Makes the gated values the weights' own, and returns the kept blocks of every pruned layer.

        The module, and every copy that follows it, is an ordinary one again, with zeros.
        """
        self._activate()
        for copy in self._followers:
            self._native.check_finish()
            fold(copy)
        blocks = blocks_from(self._native.finish())
        self._release()
        for model in (self.model, *self._followers):
            note_blocks(unwrapped(model), blocks)
        return blocks

    def remove(self) -> None:
        """Gives pruning up: the module computes with its own weights again."""
        self._release()
        for copy in self._followers:
            for module in copy.modules():
                remove_gates(module)

    def _release(self) -> None:
        self._finished = True
        if self._torch_optim is not None:
            self._torch_optim.hooks.remove()
        for slot in self._slots:
            for module, _ in slot.readers:
                remove_gates(module)
        self._gates = {}

    @property
    def moment(self) -> Optional[Moment]:
        """Of the last step; none before the first."""
        return self._moment

    @property
    def phases(self) -> List[Tuple[str, int, int]]:
        """Name, first step and the step behind the last of every phase."""
        return self._native.phases()

    @property
    def plan(self) -> List[Dict[str, Any]]:
        """What is pruned: a row for every weight that could be, with the reason where it is not."""
        return self._native.plan()

    @property
    def recipe(self) -> Dict[str, Any]:
        """The method in the form that suits network and optimiser."""
        return self._native.recipe()

    def blocks(self) -> Blocks:
        """The blocks that are active now."""
        return blocks_from(self._native.kept())

    def state_dict(self) -> Dict[str, Any]:
        """All that a resumed training needs besides the model's and the optimiser's state dicts."""
        self._activate()
        tensors = {name: tensor.detach().clone() for name, tensor in self._native.state().items()}
        return {"version": 1, "steps": self._native.steps_begun, "tensors": tensors}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on where the pruner was that gave this state. Load the model's own first."""
        self._activate()
        if not isinstance(state, dict) or not {"steps", "tensors"} <= state.keys():
            raise Error("load_state_dict: expected what Pruner.state_dict() returned")
        self._native.load_state(state["tensors"], state["steps"])
        self._supports_changed()

    def summary(self) -> Table:
        """Layers, blocks and what is kept of them now: a table in a terminal, HTML in a notebook."""
        active = {name: len(kept.kept) for name, kept in self.blocks().items()} if self._gates else {}
        rows: List[Tuple[Any, ...]] = []
        for row in self.plan:
            grid = row["grid"]
            kept = active.get(row["name"], row["blocks"] if not row["pruned"] else row["keep"])
            rows.append((row["name"] or "(model)", "x".join(map(str, row["shape"])), f"{grid[2]}x{grid[3]}",
                         row["blocks"], kept, f"{kept / row['blocks']:.1%}", row["why_dense"]))
        where = "finished" if self._finished else "not begun" if self._moment is None else (
            f"{self._moment.phase} after {self._native.steps_begun} of {self.phases[-1][2]} steps")
        title = f"{self.recipe['name']}: {where}"
        return Table(title, ["layer", "shape", "block", "blocks", "kept", "density", "dense because"], rows)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _text(value: Any) -> str:
    """An option's value as the command line would have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return f"{value[0]}x{value[1]}"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)
