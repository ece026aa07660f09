#!/usr/bin/env python3
"""Trains the runs of a table, several at a time, and prints mean and spread over seeds.

  bench/tables/run_table.py fashion --device cuda --jobs 8 --out build/tables/fashion
  bench/tables/run_table.py cifar10 --data cifar10:FOLDER --device cuda --jobs 3 --out build/tables/cifar10
  bench/tables/run_table.py cifar10-init --data cifar10:FOLDER --device cuda --jobs 8 --out build/tables/init --init resnet20.safetensors
  bench/tables/run_table.py tiny --data imagefolder:FOLDER --device cuda --jobs 4 --out build/tables/tiny
  bench/tables/run_table.py ctr --device cuda --jobs 12 --threads 1 --out build/tables/ctr

A run that has a summary.json in --out is not trained again. Needs only Python's own library.
"""
import argparse, concurrent.futures, itertools, json, pathlib, re, statistics, subprocess, sys

FASHION = ["--decay-all", "--eval-every", "5", "--log-every", "200"]
CIFAR = ["--model", "resnet18", "--width", "32", "--epochs", "30", "--lr", "0.2", "--no-nesterov", "--decay-all",
         "--eval-every", "10", "--log-every", "200"]


def cell(label, *options, seeds=3):
    return {"label": label, "options": [str(o) for o in options], "seeds": seeds}


def fashion():
    yield cell("dense e10", "--method", "dense")
    yield cell("dense e20", "--method", "dense", "--epochs", 20)
    cells = [(16, 0.9, 10), (16, 0.95, 10), (16, 0.98, 10), (32, 0.9, 10), (32, 0.95, 10), (16, 0.9, 20), (16, 0.98, 20)]
    for (b, s, e), m in itertools.product(cells, ["magnitude", "powerprop", "acdc", "sa++", "sa++r"]):
        yield cell(f"B{b} s{s} e{e} {m}", "--block", b, "--sparsity", s, "--epochs", e, "--method", m)


def fashion_study():
    for b, s in [(16, 0.9), (16, 0.98), (8, 0.9), (32, 0.98)]:
        at = ["--block", b, "--sparsity", s, "--method", "sa++"]
        for drop, f in itertools.product(["mask", "zero"], [1, 3, 10, 30]):
            yield cell(f"B{b} s{s} drop={drop} logit-lr={f}", *at, "--drop", drop, "--logit-lr", f)
        best = at + ["--drop", "zero", "--logit-lr", 10]
        for c in [2, 8]:
            yield cell(f"B{b} s{s} zero x10 ramp-c={c}", *best, "--ramp-c", c)
        for n in [10, 50]:
            yield cell(f"B{b} s{s} zero x10 rerank-every={n}", *best, "--rerank-every", n)
        yield cell(f"B{b} s{s} zero x10 no clip", *best, "--attention-clip", "false")
        yield cell(f"B{b} s{s} zero x10 reset=none", *best, "--reset", "none")
        yield cell(f"B{b} s{s} zero x10 logit-decay=0", *best, "--logit-decay", 0)


CTR = ["--data", "synthetic-ctr", "--epochs", "20", "--batch", "8192", "--eval-every", "20", "--log-every", "200"]
CTR_CELLS = [(b, s) for s in (0.9, 0.97, 0.99) for b in (5, 10, 20)]


def ctr():
    yield cell("dense", "--method", "dense")
    for (b, s), m in itertools.product(CTR_CELLS, ["magnitude", "powerprop", "acdc", "sa++", "sa++r"]):
        yield cell(f"B{b} s{s} {m}", "--block", b, "--sparsity", s, "--method", m)


def criteo():
    yield cell("dense", "--config", "configs/criteo/dense.toml")
    for s, b, m in itertools.product((0.9, 0.95, 0.97, 0.98, 0.99), (5, 10, 20), ["magnitude", "powerprop", "acdc", "sa++", "sa++r"]):
        yield cell(f"B{b} s{s} {m}", "--config", f"configs/criteo/{m}.toml", "--block", b, "--sparsity", s)


CTR_PARTS = {"attention": ["--method", "sa++r", "--score", "attention", "--drop", "zero"],
             "power": ["--method", "sa++r", "--score", "powerprop", "--alpha", 2],
             "power, gradual": ["--method", "powerprop", "--schedule", "gradual", "--dense-fraction", 0.3],
             "alpha=2": ["--method", "sa++r", "--alpha", 2],
             "alpha=2 x3": ["--method", "sa++r", "--alpha", 2, "--logit-lr", 3]}


def ctr_parts():
    for (b, s), (name, options) in itertools.product(CTR_CELLS, CTR_PARTS.items()):
        yield cell(f"B{b} s{s} {name}", "--block", b, "--sparsity", s, *options, seeds=2)


def ctr_study():
    for b, s in [(10, 0.97), (20, 0.97), (20, 0.99)]:
        at = ["--block", b, "--sparsity", s]
        for name, options in {"magnitude": [], "powerprop": [], "acdc": [], "acdc zero": ["--drop", "zero"], "sa++": [],
                              "sa++ clip": CLIP}.items():
            yield cell(f"B{b} s{s} {name}", *at, "--method", name.split()[0], *options, seeds=2)
        zero = [*at, "--method", "sa++", "--drop", "zero"]
        for f, clip in itertools.product([1, 3, 10, 30], [0, 1]):
            yield cell(f"B{b} s{s} zero x{f}" + " clip" * clip, *zero, "--logit-lr", f, "--clip-grad", clip, seeds=2)
        for f in [3, 10]:
            yield cell(f"B{b} s{s} zero x{f} no decay", *zero, "--logit-lr", f, "--logit-decay", 0, seeds=2)
        best = [*zero, "--logit-lr", 3]
        for name, more in {"reset=none": ["--reset", "none"], "reset=decompress": ["--reset", "decompress"],
                           "ramp-c=2": ["--ramp-c", 2], "ramp-c=8": ["--ramp-c", 8],
                           "no attention clip": ["--attention-clip", "false"]}.items():
            yield cell(f"B{b} s{s} zero x3 {name}", *best, *more, seeds=2)


def ctr_shared():
    for b, s in [(10, 0.97), (20, 0.97), (20, 0.99)]:
        for drop, f, reset in [("zero", 0.1, "every"), ("zero", 0.3, "every"), ("zero", 1, "every"), ("zero", 3, "every"),
                               ("zero", 0.3, "none"), ("zero", 1, "none"), ("zero", 1, "decompress"), ("mask", 1, "every")]:
            yield cell(f"B{b} s{s} shared {drop} x{f} reset={reset}", "--block", b, "--sparsity", s, "--method", "sa++", "--drop", drop,
                       "--logit-lr", f, "--reset", reset, "--logit-moment", "shared", seeds=2)


VARIANTS = {
    "acdc": ["--method", "acdc"],
    "sa++": ["--method", "sa++"],
    "zero": ["--method", "sa++", "--drop", "zero"],
    "mask x10 d0": ["--method", "sa++", "--logit-lr", 10, "--logit-decay", 0],
    "mask x30 d0": ["--method", "sa++", "--logit-lr", 30, "--logit-decay", 0],
    "zero x10 d0": ["--method", "sa++", "--drop", "zero", "--logit-lr", 10, "--logit-decay", 0],
    "zero x30 d0": ["--method", "sa++", "--drop", "zero", "--logit-lr", 30, "--logit-decay", 0],
    "zero x100 d0": ["--method", "sa++", "--drop", "zero", "--logit-lr", 100, "--logit-decay", 0],
}
CLIP = ["--clip-grad", 1]


def fashion_clip():
    yield cell("dense clip", "--method", "dense", *CLIP)
    for (b, s), (name, options) in itertools.product([(16, 0.9), (16, 0.98), (8, 0.9), (32, 0.98), (32, 0.9)], VARIANTS.items()):
        at = ["--block", b, "--sparsity", s]
        yield cell(f"B{b} s{s} {name} clip", *at, *options, *CLIP)
        if name in ("zero x10 d0", "zero x30 d0"):
            yield cell(f"B{b} s{s} {name}", *at, *options)


def cifar10():
    yield cell("dense", *CIFAR, "--method", "dense", seeds=2)
    for m in ["acdc", "sa++", "sa++r", "magnitude", "powerprop"]:
        for b, s in [(16, 0.95), (16, 0.9), (32, 0.95), (32, 0.9), (16, 0.8)]:
            yield cell(f"B{b} s{s} {m}", *CIFAR, "--block", b, "--sparsity", s, "--method", m, seeds=2)


def cifar10_study():
    at = [*CIFAR, "--block", 16, "--sparsity", 0.95]
    knobs = {"drop=zero": ["--drop", "zero"], "logit-lr=3": ["--logit-lr", 3], "logit-lr=10": ["--logit-lr", 10],
             "logit-lr=10 logit-decay=0": ["--logit-lr", 10, "--logit-decay", 0], "clip-grad=1": CLIP,
             "ramp-c=2": ["--ramp-c", 2], "ramp-c=8": ["--ramp-c", 8], "rerank-every=10": ["--rerank-every", 10],
             "rerank-every=50": ["--rerank-every", 50], "reset=none": ["--reset", "none"]}
    refined = {"logit-lr=30": ["--logit-lr", 30], "ramp-c=8": ["--ramp-c", 8], "rerank-every=50": ["--rerank-every", 50]}
    yield cell("B16 s0.95 acdc", *at, "--method", "acdc", seeds=2)
    yield cell("B16 s0.95 acdc reset=none", *at, "--method", "acdc", "--reset", "none", seeds=2)
    for method, changes in [("sa++", knobs), ("sa++r", refined)]:
        yield cell(f"B16 s0.95 {method}", *at, "--method", method, seeds=2)
        for name, options in changes.items():
            yield cell(f"B16 s0.95 {method} {name}", *at, "--method", method, *options, seeds=2)


def cifar10_init():
    # --init WEIGHTS goes behind the other options of this script.
    fine_tune = ["--model", "resnet20", "--epochs", 10, "--lr", 0.05, "--batch", 128, "--eval-every", 10, "--log-every", 200]
    yield cell("dense", *fine_tune, "--method", "dense", seeds=2)
    for b, s, m in itertools.product([4, 8], [0.5, 0.7, 0.8], ["magnitude", "acdc", "sa++", "sa++r"]):
        yield cell(f"B{b} s{s} {m}", *fine_tune, "--block", b, "--sparsity", s, "--method", m, seeds=2)


def tiny():
    base = ["--model", "resnet18", "--epochs", 20, "--batch", 128, "--lr", 0.1, "--no-nesterov", "--decay-all", "--precision", "bf16",
            "--cudnn-benchmark", "--workers", 3, "--eval-every", 10, "--log-every", 200]
    yield cell("dense", *base, "--method", "dense", seeds=1)
    for m in ["acdc", "sa++", "sa++r"]:
        yield cell(f"B16 s0.9 {m}", *base, "--block", 16, "--sparsity", 0.9, "--method", m, seeds=1)


TABLES = {"fashion": (fashion, FASHION), "fashion-study": (fashion_study, FASHION), "fashion-clip": (fashion_clip, FASHION), "cifar10": (cifar10, []),
          "cifar10-study": (cifar10_study, []), "cifar10-init": (cifar10_init, []), "tiny": (tiny, []), "ctr": (ctr, CTR), "criteo": (criteo, []), "ctr-parts": (ctr_parts, CTR), "ctr-study": (ctr_study, CTR), "ctr-shared": (ctr_shared, CTR)}


def train(args, common, row, seed):
    folder = args.out / f"{row['label'].replace(' ', '_').replace('=', '-')}-seed{seed}"
    if not (folder / "summary.json").exists():
        command = [args.hewn, "train", "--json", "--quiet", "--resume", "--out", folder, "--device", args.device,
                   "--threads", args.threads, "--seed", seed, "--no-compare", "--keep-checkpoints", 1, "--checkpoint-every", 10**9,
                   *(["--data", args.data] if "--data" not in common else []), *common, *row["options"], *args.more]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        if done.returncode != 0:
            return row["label"], seed, None, done.stderr.strip()
        for checkpoint in (folder / "checkpoints").glob("*.safetensors"):
            checkpoint.unlink()
        (folder / "model.safetensors").unlink()
    return row["label"], seed, json.loads((folder / "summary.json").read_text()), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--hewn", default="build/release/hewn")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=0, help="instead of the table's own number")
    parser.add_argument("--first-seed", type=int, default=0, help="leave out the seeds before this one")
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--only", default="", help="run only cells whose label matches this pattern")
    parser.add_argument("--skip", default="no such cell", help="leave out cells whose label ends so")
    parser.add_argument("--auc", action="store_true", help="AUC rather than loss, for click logs")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args, args.more = parser.parse_known_args()  # what is left over goes to hewn train
    args.out.mkdir(parents=True, exist_ok=True)
    make, common = TABLES[args.table]
    rows = [row for row in make() if re.search(args.only, row["label"]) and not row["label"].endswith(args.skip)]
    results = {row["label"]: [] for row in rows}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        # Seeds outermost: an interrupted table has one seed of every cell rather than all seeds of some.
        most = max(args.seeds or row["seeds"] for row in rows)
        jobs = [pool.submit(train, args, common, row, seed) for seed in range(args.first_seed, most) for row in rows
                if seed < (args.seeds or row["seeds"])]
        for job in concurrent.futures.as_completed(jobs):
            label, seed, summary, problem = job.result()
            if summary is None:
                print(f"failed: {label} seed {seed}: {problem}", file=sys.stderr)
            else:
                metric = "auc" if args.auc else "loss" if args.table.startswith(("ctr", "criteo")) else "accuracy"
                results[label].append((seed, summary["metrics"][metric], summary["seconds"]))
    table = []
    for label, runs in results.items():
        values = [value for _, value, _ in sorted(runs)]
        if values:
            table.append({"cell": label, "mean": round(statistics.mean(values), 5), "runs": values,
                          "sd": round(statistics.stdev(values), 5) if len(values) > 1 else None,
                          "seconds": round(statistics.mean(s for _, _, s in runs), 1)})
            print(f"{label:45s} {table[-1]['mean']:7.4f}  sd {table[-1]['sd'] or 0:6.4f}  n {len(values)}  {table[-1]['seconds']} s")
    (args.out / "table.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
