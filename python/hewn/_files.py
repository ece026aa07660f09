"""Files: weights with their kept blocks, and models of the runtime."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Tuple, Union, overload

import torch
from torch import nn

from . import _C
from ._blocks import Blocks, LayerBlocks, blocks_from
from ._errors import Error, FormatError
from ._networks import Network
from ._slots import find_slots, unwrapped

PathLike = Union[str, "os.PathLike[str]"]
_KEY = "hewn.blocks"


class Model:
    """A model of the runtime (``model.hewn``), ready to run. Any number of threads may call it.

    Takes a batch as a NumPy array or a tensor, and returns the same kind.
    """

    def __init__(self, path: PathLike, threads: Optional[int] = None):
        self._native = _C.Model(os.fspath(path))
        if threads is not None:
            self._native.set_threads(threads)

    def __call__(self, batch: Any) -> Any:
        tensor = torch.as_tensor(batch)
        out = self._native.run(tensor)
        return out if isinstance(batch, torch.Tensor) else out.numpy()

    @property
    def threads(self) -> int:
        """How many a call may use; 0 when set: all cores."""
        return self._native.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._native.set_threads(count)

    @property
    def input_shape(self) -> Tuple[int, int, int]:
        """Channels, height and width of a sample."""
        return tuple(self._native.input_shape)  # type: ignore[return-value]

    @property
    def outputs(self) -> int:
        return self._native.outputs

    @property
    def classes(self) -> List[str]:
        """Names of the outputs, where the file has them."""
        return self._native.classes

    @property
    def metadata(self) -> Dict[str, str]:
        return self._native.metadata

    def __repr__(self) -> str:
        return f"hewn.Model({'x'.join(map(str, self.input_shape))} -> {self.outputs})"


def save(model: nn.Module, path: PathLike, blocks: Optional[Blocks] = None,
         about: Optional[Dict[str, str]] = None) -> None:
    """Writes a pruned model's state dict with its kept blocks in the metadata.

    A path that ends in .pt or .pth gives a file of torch.save, which plain PyTorch loads; any other a safetensors
    file, as ``hewn train`` writes them.

    Args:
        blocks: what `Pruner.finish` returned; none: as `compress` finds them.
    """
    from ._compress import blocks_of

    kept = blocks_of(unwrapped(model)) if blocks is None else blocks
    state = unwrapped(model).state_dict()
    text = _C.blocks_text({name: layer.native() for name, layer in kept.items()})
    target = os.fspath(path)
    if target.endswith((".pt", ".pth")):
        state._metadata.setdefault("", {})[_KEY] = text  # type: ignore[attr-defined]
        torch.save(state, target)
        return
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    _C.blocks_of_text(text, tensors, target)  # checks them
    metadata = {**(about or {}), "format": "pt", "hewn.version": _C.version, _KEY: text}
    _C.save_tensors(target, tensors, metadata)


@overload
def load(path: PathLike) -> Union[Model, Network]: ...


@overload
def load(path: PathLike, model: nn.Module) -> Blocks: ...


def load(path: PathLike, model: Optional[nn.Module] = None) -> Union[Model, Network, Blocks]:
    """Opens ``model.hewn`` as a `Model`, or a file of general tensors, ONNX too, as a `Network`; with a module loads a
    file of weights into it.

    The second form takes safetensors files and state dicts of torch.save, and returns the kept blocks: those that the
    file lists, none where it lists none. They are noted on the layers, so that `compress` finds them.
    """
    source = os.fspath(path)
    if model is None:
        return Network(source) if _C.is_network(source) else Model(source)
    model = unwrapped(model)
    if source.endswith((".pt", ".pth")):
        state = torch.load(source, map_location="cpu")
        if not isinstance(state, dict):
            raise FormatError(f"{source}: expected a state dict")
        text = getattr(state, "_metadata", {}).get("", {}).get(_KEY)
        blocks = blocks_from(_C.blocks_of_text(text, dict(state), source)) if text else {}
    else:
        state, _, native = _C.load_tensors(source)
        blocks = blocks_from(native)
    _load_into(model, state, source)
    note_blocks(model, blocks)
    return blocks


def _load_into(model: nn.Module, state: Dict[str, torch.Tensor], source: str) -> None:
    try:
        model.load_state_dict(state)
    except RuntimeError as problem:
        raise FormatError(f"{source}: {' '.join(str(problem).split())}") from problem


def note_blocks(model: nn.Module, blocks: Blocks) -> None:
    """Writes kept blocks on the layers, where `compress`, `save` and `export` look for them."""
    for slot in find_slots(model, embeddings=True):
        if slot.name in blocks:
            for module, attribute in slot.readers:
                module.__dict__.setdefault("_hewn_blocks", {})[attribute] = blocks[slot.name]


def to_sparse_bsr(weight: torch.Tensor, blocks: LayerBlocks) -> torch.Tensor:
    """A pruned Linear weight as a tensor of torch.sparse_bsr, outputs by inputs.

    >>> import torch, hewn
    >>> layer = torch.nn.Linear(8, 8)
    >>> with torch.no_grad(): _ = layer.weight[:4].zero_()
    >>> sparse = hewn.to_sparse_bsr(layer.weight, hewn.blocks_of(layer)[""])
    >>> bool((sparse.to_dense() == layer.weight).all())
    True
    """
    if weight.dim() != 2 or blocks.rows % blocks.block[0] or (blocks.cols // blocks.groups) % blocks.block[1]:
        raise Error(f"to_sparse_bsr: expected a matrix of whole blocks of {blocks.block[0]}x{blocks.block[1]}, got "
                    f"{'x'.join(map(str, weight.shape))}")
    grid, kept = blocks.native()
    begin, row = _C.compressed(grid, kept)
    values = _C.gather(weight, grid, kept)
    return torch.sparse_bsr_tensor(torch.tensor(begin), torch.tensor(row), values, size=tuple(weight.shape))
