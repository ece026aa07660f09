"""Block-sparse neural networks that run faster: pruning of any PyTorch model in its own training loop."""

import torch as _torch  # first: hewn._C needs its libraries

from ._errors import Error, FormatError
from . import _C
from ._blocks import Blocks, LayerBlocks
from ._optimiser import Optimiser
from ._pruner import Moment, Pruner

__version__ = _C.version

__all__ = ["Blocks", "Error", "FormatError", "LayerBlocks", "Moment", "Optimiser", "Pruner"]
