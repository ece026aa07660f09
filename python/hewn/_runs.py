"""Finished and unfinished runs of ``hewn train``, and pictures of them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np
import torch

from . import _C
from ._blocks import Blocks, LayerBlocks, blocks_from
from ._errors import Error, FormatError

PathLike = Union[str, "os.PathLike[str]"]


@dataclass
class Run:
    """What a run folder holds.

    `metrics` has an array per quantity, with NaN where a record has none; as a pandas frame where pandas is installed:
    `frame()`.
    """

    path: Path
    config: Dict[str, Any]  # options by their names
    metrics: Dict[str, np.ndarray]
    summary: Optional[Dict[str, Any]]  # none while the run is not finished
    masks: Blocks  # kept blocks of the final network; empty while there is none

    def frame(self) -> Any:
        """The metrics as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self.metrics)

    def state_dict(self) -> Dict[str, torch.Tensor]:
        """The final network's tensors."""
        tensors, _, _ = _C.load_tensors(str(self.path / "model.safetensors"))
        return dict(tensors)

    def __repr__(self) -> str:
        state = "finished" if self.summary is not None else "not finished"
        return f"hewn.Run({str(self.path)!r}, {state}, {len(self.masks)} pruned layers)"


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        raise FormatError(f"{path}: {problem}") from problem


def _columns(path: Path) -> Dict[str, np.ndarray]:
    """Records of one JSON object a line, as columns."""
    records: List[Dict[str, Any]] = []
    if path.exists():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                record = json.loads(line)
            except ValueError:
                if number == 1 or line.endswith("}"):
                    raise FormatError(f"{path}: line {number} is no JSON object") from None
                break  # the last line of a run that was stopped while writing it
            records.append(_flat(record))
    names = list(dict.fromkeys(key for record in records for key in record))
    out: Dict[str, np.ndarray] = {}
    for name in names:
        values = [record.get(name) for record in records]
        if all(value is None or isinstance(value, (int, float)) for value in values):
            out[name] = np.asarray([np.nan if value is None else value for value in values], dtype=float)
        else:
            out[name] = np.asarray(["" if value is None else str(value) for value in values])
    return out


def _flat(record: Dict[str, Any]) -> Dict[str, Any]:
    """Objects inside a record as entries of their own: metrics.accuracy."""
    out: Dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            out.update({f"{key}.{inner}": number for inner, number in value.items()})
        elif not isinstance(value, list):
            out[key] = value
    return out


def read_run(path: PathLike) -> Run:
    """Reads a run folder of ``hewn train``: options, metrics, and the kept blocks of the final network."""
    folder = Path(path)
    if not (folder / "config.json").exists():
        raise Error(f"{folder}: expected a run folder, with config.json in it")
    config = _json(folder / "config.json")
    summary = _json(folder / "summary.json") if (folder / "summary.json").exists() else None
    masks: Blocks = {}
    if (folder / "model.safetensors").exists():
        masks = blocks_from(_C.load_tensors(str(folder / "model.safetensors"))[2])
    return Run(folder, config.get("options", config), _columns(folder / "metrics.jsonl"), summary, masks)


def _axes() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as problem:
        raise ImportError("hewn: plots need matplotlib, which is not installed") from problem
    return plt


def plot_masks(masks: Union[Run, Blocks], layers: Optional[Sequence[str]] = None) -> Any:
    """Draws which blocks of each layer are kept, inputs down and outputs across; returns the figure."""
    plt = _axes()
    blocks: Dict[str, LayerBlocks] = masks.masks if isinstance(masks, Run) else dict(masks)
    names = list(blocks) if layers is None else list(layers)
    if not names:
        raise Error("plot_masks: there is no pruned layer to draw")
    across = min(4, len(names))
    down = -(-len(names) // across)
    figure, axes = plt.subplots(down, across, figsize=(3 * across, 3 * down), squeeze=False)
    for axis in axes.flat[len(names):]:
        axis.axis("off")
    for axis, name in zip(axes.flat, names):
        axis.imshow(blocks[name].grid().numpy(), cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axis.set_title(f"{name} ({blocks[name].density:.0%})", fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.tight_layout()
    return figure


def plot_tradeoff(runs: Sequence[Union[Run, PathLike]], metric: str = "accuracy", against: str = "sparsity") -> Any:
    """Draws what runs reach against an option of theirs, a line for every method; returns the figure."""
    plt = _axes()
    lines: Dict[str, List[Any]] = {}
    for item in runs:
        run = item if isinstance(item, Run) else read_run(item)
        value = _found(run.summary or {}, metric)
        if value is None:
            raise Error(f"plot_tradeoff: {run.path} has no {metric} in its summary")
        lines.setdefault(str(run.config.get("method")), []).append((float(run.config[against]), float(value)))
    figure, axis = plt.subplots()
    for method, points in sorted(lines.items()):
        points.sort()
        axis.plot([x for x, _ in points], [y for _, y in points], marker="o", label=method)
    axis.set_xlabel(against)
    axis.set_ylabel(metric)
    axis.legend()
    return figure


def _found(summary: Dict[str, Any], name: str) -> Optional[float]:
    """A number of that name, anywhere in a summary; the outermost first."""
    if isinstance(summary.get(name), (int, float)):
        return summary[name]
    for value in summary.values():
        inner = _found(value, name) if isinstance(value, dict) else None
        if inner is not None:
            return inner
    return None
