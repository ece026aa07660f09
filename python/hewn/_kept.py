"""Layers on the kept blocks of their weights."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import torch
from torch import nn
from torch.nn import functional as F

from . import _C
from ._blocks import LayerBlocks
from ._slots import conv_window


class _Kept(nn.Module):
    """A weight of which only kept blocks are stored: `values`, [kept][outputs][inputs] of a block, by output block and
    then input block. Which they are (`kept`) is fixed; the values can be trained. On the CPU and in float32 it runs on
    our kernels; a Linear layer also on a Hopper GPU in bfloat16 or half, without gradients. Elsewhere it runs on the
    dense weight."""

    kept: torch.Tensor

    def __init__(self, weight: torch.Tensor, blocks: LayerBlocks, bias: Optional[torch.Tensor], window: List[int]):
        super().__init__()
        self.grid: List[int] = [blocks.rows, blocks.cols, *blocks.block, blocks.groups]
        self.window = window
        self.shape = tuple(weight.shape)
        self.values = nn.Parameter(_C.gather(weight, self.grid, list(blocks.kept)).to(weight))
        self.register_buffer("kept", torch.tensor(blocks.kept, dtype=torch.int64, device=weight.device))
        self.bias = None if bias is None else nn.Parameter(bias.detach().clone())

    @property
    def blocks(self) -> LayerBlocks:
        rows, cols, height, width, groups = self.grid
        return LayerBlocks(rows, cols, (height, width), groups, tuple(self.kept.tolist()))

    def dense(self) -> torch.Tensor:
        """The weight with zeros, as PyTorch stores it; not differentiable."""
        return _C.scatter(self.values, self.grid, self.kept.tolist(), list(self.shape)).to(self.values)

    @property
    def weight(self) -> torch.Tensor:
        """The weight with zeros, differentiable in `values`."""
        rows, cols, height, width, groups = self.grid
        begin, row = _C.compressed(self.grid, self.kept.tolist())
        down, across = self.blocks.shape
        outputs = torch.repeat_interleave(torch.arange(across), torch.tensor(begin).diff())
        tiles = self.values.new_zeros(across, down, width, height).index_put(
            (outputs.to(self.values.device), torch.tensor(row, device=self.values.device).long()), self.values)
        matrix = tiles.permute(0, 2, 1, 3).reshape(groups, -1, down * height)[:, : cols // groups, :rows]
        matrix = matrix.reshape(cols, rows)
        if len(self.shape) > 2:  # outputs x (taps, channels) -> outputs x channels x taps
            matrix = matrix.reshape(cols, -1, self.shape[1]).transpose(1, 2)
        return matrix.reshape(self.shape)

    def _on_kernels(self, x: torch.Tensor) -> bool:
        return x.device.type == "cpu" and x.dtype == torch.float32 and not torch.is_autocast_cpu_enabled()

    def _run(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.hewn.kept_product(x, self.values, self.bias, self.kept, self.grid, self.window)

    def _load_from_state_dict(self, state: Any, prefix: str, *args: Any) -> None:
        # A plain state dict of the pruned network fits too.
        weight = state.get(prefix + "weight")
        if weight is not None and prefix + "values" not in state:
            kept = self.kept.tolist()
            _C.check_zeros(prefix.rstrip("."), weight, self.grid, kept)
            state = {**state, prefix + "values": _C.gather(weight, self.grid, kept), prefix + "kept": self.kept}
            del state[prefix + "weight"]
        super()._load_from_state_dict(state, prefix, *args)

    def extra_repr(self) -> str:
        rows, cols, height, width, _ = self.grid
        return f"{rows} -> {cols}, blocks of {height}x{width}, {len(self.kept)} of {self.blocks.blocks} kept"


class _Ready:
    """What was made of a layer's values for one type and stream. Not part of copies and files: made anew there."""

    def __init__(self, key: Tuple[Any, ...], product: Any):
        self.key = key
        self.product = product

    def __deepcopy__(self, memo: Any) -> None:
        return None

    def __reduce__(self) -> Any:
        return type(None), ()


class KeptLinear(_Kept):
    """A Linear layer on its kept blocks."""

    always = False  # on a GPU at any density and size, not only where that is faster

    def __init__(self, weight: torch.Tensor, blocks: LayerBlocks, bias: Optional[torch.Tensor] = None):
        super().__init__(weight, blocks, bias, [])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._on_kernels(x):
            return self._run(x)
        product = self._on_device(x)
        return F.linear(x, self.weight, self.bias) if product is None else product.run(x, self.bias)

    def _on_device(self, x: torch.Tensor) -> Any:
        """The product on a GPU; none where there is no kernel for it, or a gradient is wanted."""
        if x.device.type != "cuda" or torch.is_grad_enabled():
            return None
        dtype = torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else x.dtype
        if dtype not in (torch.bfloat16, torch.float16):
            return None
        stream = torch.cuda.current_stream(x.device).cuda_stream
        key = (self.values._version, self.values.data_ptr(), self.kept._version, dtype, stream)
        ready = self.__dict__.get("_hewn_ready")
        if ready is None or ready.key != key:
            taken = self.always or self.blocks.density <= _C.device_limit(self.grid)
            product = _C.DeviceProduct(self.dense().to(dtype), self.grid, self.kept.tolist()) if taken else None
            ready = self.__dict__["_hewn_ready"] = _Ready(key, product)
        return ready.product

    def plain(self) -> nn.Linear:
        """The dense layer with the same weight."""
        layer = nn.Linear(self.grid[0], self.grid[1], bias=self.bias is not None, device=self.values.device,
                          dtype=self.values.dtype)
        return _filled(layer, self)


class KeptConv2d(_Kept):
    """A Conv2d layer on its kept blocks."""

    def __init__(self, conv: nn.Conv2d, blocks: LayerBlocks):
        window = conv_window(conv)
        assert window is not None
        super().__init__(conv.weight, blocks, conv.bias, window)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._on_kernels(x) and x.dim() == 4:
            return self._run(x)
        _, _, stride, padding, dilation = self.window
        return F.conv2d(x, self.weight, self.bias, stride, padding, dilation)

    def plain(self) -> nn.Conv2d:
        height, width, stride, padding, dilation = self.window
        layer = nn.Conv2d(self.shape[1], self.shape[0], (height, width), stride, padding, dilation,
                          bias=self.bias is not None, device=self.values.device)
        return _filled(layer, self)


def _filled(layer: Any, kept: Any) -> Any:
    with torch.no_grad():
        layer.weight.copy_(kept.dense())
        if kept.bias is not None:
            layer.bias.copy_(kept.bias)
    layer.__dict__["_hewn_blocks"] = {"weight": kept.blocks}
    return layer.train(kept.training)


class KeptAttention(nn.Module):
    """MultiheadAttention with projections on kept blocks, for queries, keys and values of the same width."""

    def __init__(self, attention: nn.MultiheadAttention, in_proj: nn.Module, out_proj: nn.Module):
        super().__init__()
        self.embed_dim = attention.embed_dim
        self.num_heads = attention.num_heads
        self.dropout = attention.dropout
        self.batch_first = attention.batch_first
        self._qkv_same_embed_dim = False  # keeps encoders off the path that reads dense weights
        self.in_proj_bias = None
        self.in_proj = in_proj
        self.out_proj = out_proj
        self.train(attention.training)

    def plain(self) -> nn.MultiheadAttention:
        """The dense module with the same weights; its projections must be plain ones already."""
        device = next(self.parameters()).device
        bias = self.out_proj.bias is not None
        layer = nn.MultiheadAttention(self.embed_dim, self.num_heads, self.dropout, bias=bias,
                                      batch_first=self.batch_first, device=device)
        with torch.no_grad():
            layer.in_proj_weight.copy_(self.in_proj.weight)
            layer.out_proj.weight.copy_(self.out_proj.weight)
            if bias:
                layer.in_proj_bias.copy_(self.in_proj.bias)
                layer.out_proj.bias.copy_(self.out_proj.bias)
        noted = self.in_proj.__dict__.get("_hewn_blocks", {})
        if "weight" in noted:
            layer.__dict__["_hewn_blocks"] = {"in_proj_weight": noted["weight"]}
        layer.out_proj.__dict__["_hewn_blocks"] = dict(self.out_proj.__dict__.get("_hewn_blocks", {}))
        return layer.train(self.training)

    @staticmethod
    def fits(attention: nn.MultiheadAttention) -> bool:
        plain = attention.bias_k is None and attention.bias_v is None and not attention.add_zero_attn
        return attention.in_proj_weight is not None and plain

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                key_padding_mask: Optional[torch.Tensor] = None, need_weights: bool = True,
                attn_mask: Optional[torch.Tensor] = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        if query is not key or key is not value:
            raise NotImplementedError("hewn: compressed attention takes one input as query, key and value")
        x = query if self.batch_first or query.dim() == 2 else query.transpose(0, 1)
        single = x.dim() == 2
        x = x.unsqueeze(0) if single else x
        samples, tokens, width = x.shape
        heads = self.num_heads
        parts = self.in_proj(x).view(samples, tokens, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        mask = _bias_of(attn_mask, key_padding_mask, samples, heads, x)
        scores = torch.matmul(q * (width // heads) ** -0.5, k.transpose(-2, -1))
        weights = torch.softmax(scores if mask is None else scores + mask, -1)
        dropped = F.dropout(weights, self.dropout, self.training)
        out = self.out_proj(torch.matmul(dropped, v).transpose(1, 2).reshape(samples, tokens, width))
        if not self.batch_first and not single:
            out = out.transpose(0, 1)
        shown = (weights.mean(1) if average_attn_weights else weights) if need_weights else None
        if single:
            return out.squeeze(0), None if shown is None else shown.squeeze(0)
        return out, shown


def _bias_of(attn_mask: Optional[torch.Tensor], padding: Optional[torch.Tensor], samples: int, heads: int,
             like: torch.Tensor) -> Optional[torch.Tensor]:
    """Both masks as something to add to the scores, samples x heads x queries x keys."""
    total: Optional[torch.Tensor] = None
    for mask, is_padding in ((attn_mask, False), (padding, True)):
        if mask is None:
            continue
        if mask.dtype == torch.bool:
            mask = torch.zeros_like(mask, dtype=like.dtype).masked_fill_(mask, float("-inf"))
        if is_padding:
            mask = mask.reshape(samples, 1, 1, -1)
        elif mask.dim() == 3:
            mask = mask.view(samples, heads, *mask.shape[1:])
        total = mask if total is None else total + mask
    return total
