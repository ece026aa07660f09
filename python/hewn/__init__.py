"""Block-sparse neural networks that run faster: pruning of any PyTorch model in its own training loop.

    pruner = hewn.Pruner(model, sparsity=0.9, block=16, steps=steps, optimizer=optimizer)
    for each batch:
        pruner.step()
        ...  # forward, backward, optimizer.step() as always
    pruner.finish()
    fast = hewn.compress(model)
"""

from typing import TYPE_CHECKING, Any

import torch as _torch  # first: hewn._C needs its libraries

from ._errors import Error, FormatError

try:
    from . import _C
except ImportError as _problem:
    raise ImportError(f"hewn was built for another PyTorch than {_torch.__version__}, or not at all; see "
                      f"docs/python.md ({_problem})") from _problem

from ._blocks import Blocks, LayerBlocks
from ._callback import PrunerCallback
from ._compress import blocks_of, compress, decompress, report
from ._export import export
from ._files import Model, load, save, to_sparse_bsr
from ._kept import KeptAttention, KeptConv2d, KeptLinear
from ._networks import Network
from ._optimiser import Optimiser
from ._pruner import Moment, Pruner
from ._runs import Run, plot_masks, plot_tradeoff, read_run

if TYPE_CHECKING:
    from ._convex import GroupLasso, GroupSelector

__version__: str = _C.version

__all__ = [
    "Blocks", "Error", "FormatError", "GroupLasso", "GroupSelector", "KeptAttention", "KeptConv2d", "KeptLinear",
    "LayerBlocks", "Model", "Moment", "Network", "Optimiser", "Pruner", "PrunerCallback", "Run", "blocks_of",
    "compress", "decompress", "export", "load", "plot_masks", "plot_tradeoff", "read_run", "report", "save", "to_sparse_bsr",
]


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, and need not be there.
    if name in ("GroupSelector", "GroupLasso"):
        from . import _convex

        return getattr(_convex, name)
    raise AttributeError(f"module 'hewn' has no attribute {name!r}")
