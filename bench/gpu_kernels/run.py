"""Speed of products with kept blocks on a GPU against dense ones, and PyTorch's own block-sparse product.

usage: python3 bench/gpu_kernels/run.py [--build build/cuda] [--out FILE.json] [--shape SAMPLES,INPUTS,OUTPUTS]
"""
import argparse
import json
import pathlib
import subprocess

import torch

BLOCKS = [16, 32, 64, 128]
SPARSITIES = [0.5, 0.6, 0.8, 0.9, 0.95]


def median_ms(work, rounds=15, launches=4):
    times = []
    for i in range(rounds + 2):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(launches):
            work()
        end.record()
        end.synchronize()
        if i >= 2:
            times.append(begin.elapsed_time(end) / launches)
    return sorted(times)[len(times) // 2]


def bsr_ms(samples, inputs, outputs, block, sparsity):
    """y' = W x' with W of kept blocks, as PyTorch has it for Triton."""
    from torch.sparse._triton_ops import bsr_dense_addmm

    grid = (outputs // block, inputs // block)
    keep = int((1 - sparsity) * grid[0] * grid[1])
    mask = torch.zeros(grid[0] * grid[1], device="cuda")
    mask[torch.randperm(mask.numel(), device="cuda")[:keep]] = 1
    weight = torch.randn(outputs, inputs, device="cuda", dtype=torch.bfloat16)
    weight *= mask.view(grid).repeat_interleave(block, 0).repeat_interleave(block, 1)
    bsr = weight.to_sparse_bsr((block, block))
    x = torch.randn(inputs, samples, device="cuda", dtype=torch.bfloat16)
    zero = torch.zeros(outputs, samples, device="cuda", dtype=torch.bfloat16)
    return median_ms(lambda: bsr_dense_addmm(zero, bsr, x, beta=0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/cuda")
    parser.add_argument("--out")
    parser.add_argument("--shape", default="8192,4096,4096")
    args = parser.parse_args()
    shape = [int(n) for n in args.shape.split(",")]
    program = pathlib.Path(args.build) / "bench" / "bench_gpu_kernels"
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda)
    out = []
    for block in BLOCKS:
        command = [str(a) for a in [program, *shape, block, *SPARSITIES]]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        *lines, last = done.stdout.strip().splitlines()
        print(f"blocks of {block}\n" + "\n".join(lines), flush=True)
        rows = json.loads(last)
        for sparsity in SPARSITIES:
            ms = bsr_ms(*shape, block, sparsity)
            dense = next(r["dense_ms"] for r in rows if r["sparsity"] == sparsity)
            print(f"PyTorch BSR      {100 * sparsity:5.1f} %  {ms:.4f} ms  {dense / ms:.2f}x", flush=True)
            rows.append({"what": "PyTorch BSR", "sparsity": sparsity, "dense_ms": dense, "ms": ms})
        out.append({"block": block, "rows": rows})
    if args.out:
        pathlib.Path(args.out).write_text(json.dumps(out, indent=1) + "\n")


main()
