"""How much faster are compressed Linear layers on a GPU? A stack of feed-forward layers as encoders have them, in
bfloat16, a share of their blocks kept: PyTorch's own on the dense weights with zeros, and hewn.compress, as CUDA graphs,
in turns; outputs are compared.

usage: PYTHONPATH=build/python... python3 bench/python/gpu_compress.py [--tokens 12608] [--width 768] [--layers 6]
"""
import argparse

import torch
from torch import nn

import hewn


def pruned(width, layers, block, sparsity):
    torch.manual_seed(0)
    parts = []
    for _ in range(layers):
        for a, b in ((width, 4 * width), (4 * width, width)):
            layer = nn.Linear(a, b)
            keep = torch.rand(b // block, a // block) >= sparsity
            with torch.no_grad():
                layer.weight.normal_(std=(2 / (a * (1 - sparsity))) ** 0.5)  # outputs as large as inputs
                layer.weight *= keep.repeat_interleave(block, 0).repeat_interleave(block, 1)
            parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts)


def recorded(model, x):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            model(x)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            y = model(x)
    torch.cuda.current_stream().wait_stream(stream)
    return graph, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=64 * 197)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--layers", type=int, default=6)
    args = parser.parse_args()
    for block, sparsity in ((64, 0.8), (64, 0.9), (32, 0.9), (16, 0.9)):
        model = pruned(args.width, args.layers, block, sparsity).cuda().bfloat16().eval()
        fast = hewn.compress(model)
        x = torch.randn(args.tokens, args.width, device="cuda", dtype=torch.bfloat16)
        (dense, expected), (sparse, got) = recorded(model, x), recorded(fast, x)
        times = ([], [])
        for _ in range(20):
            for graph, to in zip((dense, sparse), times):
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                graph.replay()
                end.record()
                end.synchronize()
                to.append(begin.elapsed_time(end))
        a, b = (sorted(t)[len(t) // 2] for t in times)
        apart = ((got - expected).float().norm() / expected.float().norm()).item()
        on = sum(type(m).__name__ == "KeptLinear" for m in fast.modules())
        print(f"blocks of {block}, {sparsity:.0%}: {on} of {2 * args.layers} layers on kept blocks, dense {a:.3f} ms, "
              f"compressed {b:.3f} ms, {a / b:.2f}x, outputs differ by {apart:.1e}", flush=True)


main()
