"""Which blocks of a weight are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Tuple

import torch


@dataclass(frozen=True)
class LayerBlocks:
    """The kept blocks of one layer.

    The weight is seen as a matrix of inputs (rows) by outputs (columns): a Linear layer's `in x out`, a Conv2d's
    `(height * width * channels in) x (channels out)`. Blocks are numbered row by row.

    >>> kept = LayerBlocks(rows=4, cols=4, block=(2, 2), groups=1, kept=(0, 3))
    >>> kept.density
    0.5
    >>> kept.grid().tolist()
    [[True, False], [False, True]]
    """

    rows: int
    cols: int
    block: Tuple[int, int]
    groups: int
    kept: Tuple[int, ...]

    @property
    def shape(self) -> Tuple[int, int]:
        """Blocks down and across."""
        across = -(-(self.cols // self.groups) // self.block[1]) * self.groups
        return -(-self.rows // self.block[0]), across

    @property
    def blocks(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def density(self) -> float:
        return len(self.kept) / self.blocks

    def grid(self) -> torch.Tensor:
        """True for every block that is kept, as the blocks lie."""
        flags = torch.zeros(self.blocks, dtype=torch.bool)
        flags[torch.tensor(self.kept, dtype=torch.long)] = True
        return flags.view(self.shape)

    def elements(self) -> torch.Tensor:
        """True for every element of the matrix, rows by cols, that lies in a kept block."""
        across = torch.arange(self.cols // self.groups) // self.block[1]
        per_group = self.shape[1] // self.groups
        columns = torch.cat([across + group * per_group for group in range(self.groups)])
        return self.grid()[torch.arange(self.rows) // self.block[0]][:, columns]

    def mask(self, weight: torch.Tensor) -> torch.Tensor:
        """The same in the shape of a weight as PyTorch stores it."""
        flags = self.elements().t()
        if weight.dim() > 2:  # outputs x (taps, channels) -> outputs x channels x taps
            channels, taps = weight.shape[1], weight[0, 0].numel()
            flags = flags.reshape(-1, taps, channels).transpose(1, 2)
        return flags.reshape(weight.shape).to(weight.device)

    def native(self) -> Tuple[Tuple[int, int, int, int, int], List[int]]:
        return (self.rows, self.cols, *self.block, self.groups), list(self.kept)


Blocks = Dict[str, LayerBlocks]


def blocks_from(native: Dict[str, Any]) -> Blocks:
    """From what hewn._C gives: {layer: ((rows, cols, block rows, block cols, groups), numbers)}."""
    out = {}
    for name, ((rows, cols, height, width, groups), kept) in native.items():
        out[name] = LayerBlocks(rows, cols, (height, width), groups, tuple(kept))
    return out
