#!/usr/bin/env python3
"""Paths of hewn against glmnet and scikit-learn, one thread, CPU seconds, at equal KKT residual.

The other solver runs first; the largest relative violation of the optimality conditions that it leaves along the path
becomes hewn's tolerance. Runs alternate, medians count. With --cold whole processes that read a CSV file, solve and end.
Needs r-cran-glmnet, r-cran-data.table, python3-sklearn and python3-pandas.
usage: run.py [--cold] [--repeat N] [--limit SECONDS] [--json FILE] [PROBLEM...]
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parent.parent / "build/release"
ENV = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
GLMNET = [("glmnet", tol) for tol in (1e-7, 1e-9, 1e-11, 1e-14)]
SKLEARN = [("sklearn", tol) for tol in (1e-4, 1e-7)]
ANCHORS = {  # all but these: both
    "multinomial": [("glmnet", 1e-7), ("glmnet", 1e-9)],  # scikit-learn has no groups here; glmnet takes minutes below
    "multi-response": GLMNET + [("sklearn", 1e-4)],
    "wide": GLMNET + [("sklearn", 1e-4)],
    "binomial": GLMNET + [("sklearn", 1e-3)],
    "binomial, tall": GLMNET + [("sklearn", 1e-3)],
    "binomial, wider": GLMNET,
    "binomial, correlated": GLMNET,
    "multinomial, wide": [("glmnet", 1e-7), ("glmnet", 1e-9)],
}
PATIENCE = 20  # seconds beyond which the other solver runs once


def processor_seconds(command, limit=None):
    """Of a whole process, and its last line; None for that where it was stopped after `limit` of them."""
    def bound():
        if limit:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))

    before = os.times()
    done = subprocess.run([str(c) for c in command], env=ENV, capture_output=True, text=True, preexec_fn=bound)
    after = os.times()
    if done.returncode == -signal.SIGXCPU:
        return limit, None
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed: {done.stderr.strip()}")
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return spent, (done.stdout.strip().splitlines() or ["{}"])[-1]


class Case:
    """A problem on disk, and the commands that solve it."""

    def __init__(self, np, folder, name, cold, lambdas):
        from problems import PROBLEMS

        make, self.loss, self.family, self.ratio = PROBLEMS[name]
        self.cold, self.lambdas, self.folder = cold, lambdas, folder
        x, y = make(np)
        self.shape, self.outputs = x.shape, y.shape[1]
        if cold:
            self.write_table(np, x, y)
            return
        for key, a in (("x", x), ("y", y)):
            np.save(folder / f"{key}.npy", np.asfortranarray(a))
            with open(folder / f"{key}.bin", "wb") as f:
                f.write(np.array(a.shape, "<i4").tobytes() + np.asfortranarray(a, "<f8").tobytes(order="F"))

    def write_table(self, np, x, y):
        targets = [f"y{k}" for k in range(self.outputs)]
        if self.loss == "multinomial":
            y, targets = y.argmax(1)[:, None], ["y0"]
        self.targets = ",".join(targets)
        header = ",".join([f"x{j}" for j in range(x.shape[1])] + targets)
        np.savetxt(self.folder / "data.csv", np.hstack([x, y]), fmt="%.8g", delimiter=",", header=header, comments="")

    def other(self, anchor, tol, cold):
        words = [self.family, self.lambdas, self.ratio, tol]
        table = [self.folder / "data.csv", self.outputs]
        if anchor == "glmnet":
            return ["Rscript", HERE / "glmnet.R", *(table if cold else [self.folder / "x.bin", self.folder / "y.bin"]), *words]
        return ["/usr/bin/python3", HERE / "sklearn_path.py",
                *(table if cold else [self.folder / "x.npy", self.folder / "y.npy"]), *words]

    def own(self, tolerance):
        if not self.cold:
            return [BUILD / "bench/convex_path", self.folder / "x.npy", self.folder / "y.npy", self.loss, 1, self.lambdas,
                    self.ratio, tolerance]
        words = ["--targets", self.targets] if self.outputs > 1 and self.loss == "gaussian" else ["--target", self.targets]
        return [BUILD / "hewn", "select", self.folder / "data.csv", *words, "--task", self.loss, "--method", "group-lasso",
                "--path", self.lambdas, "--min-ratio", self.ratio, "--tolerance", tolerance, "--json"]


def compare(case, anchor, tol, repeat, known, limit):
    """Medians of both sides. `known`: the violation that the other solver leaves, of a cold row. Where the other is
    stopped at the limit hewn solves to 1e-8, and the ratio is a bound from above."""
    theirs, own, kkt, difference = [], [], known, None
    stopped = False
    for i in range(repeat):
        spent, line = processor_seconds(case.other(anchor, tol, case.cold), limit)
        stopped = line is None
        if stopped:
            kkt, answer = 1e-8, {"objective": float("nan")}
        elif not case.cold:
            answer = json.loads(line)
            kkt, spent = answer["kkt"], answer["cpu"]
        theirs.append(spent)
        spent, line = processor_seconds(case.own(kkt))
        if not case.cold:
            mine = json.loads(line)
            spent, difference = mine["cpu"], (mine["objective"] - answer["objective"]) / abs(answer["objective"])
        own.append(spent)
        if stopped or theirs[-1] > PATIENCE:
            break
    a, b = statistics.median(theirs), statistics.median(own)
    return {"against": anchor, "tolerance": tol, "kkt": kkt, "theirs": a, "hewn": b, "ratio": b / a, "runs": len(own),
            "objective": None if stopped else difference, "stopped": stopped}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="*")
    parser.add_argument("--cold", action="store_true", help="processes that read a CSV file")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; medians count")
    parser.add_argument("--lambdas", type=int, default=100)
    parser.add_argument("--limit", type=int, help="CPU seconds of a process after which the other solver is stopped")
    parser.add_argument("--json", help="write results to this file")
    args = parser.parse_args()
    try:
        import numpy as np
        import sklearn  # noqa: F401
    except ImportError:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv]) if sys.executable != "/usr/bin/python3" else sys.exit(
            "numpy and scikit-learn are needed (python3-sklearn)")
    from problems import PROBLEMS

    rows = []
    print("| problem | against | KKT | theirs | hewn | ratio |\n|---|---|---|---|---|---|")
    for name in args.problem or PROBLEMS:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(np, pathlib.Path(folder), name, args.cold, args.lambdas)
            anchors = ANCHORS.get(name, GLMNET + SKLEARN)
            too_slow = set()
            for anchor, tol in [anchors[0], anchors[-1]] if args.cold else anchors:
                if anchor in too_slow:  # a tighter tolerance takes longer still
                    continue
                row = {"problem": name, "shape": case.shape, "outputs": case.outputs,
                       **compare(case, anchor, tol, args.repeat, 1e-4, args.limit)}
                rows.append(row)
                if row["stopped"]:
                    too_slow.add(anchor)
                above, below = (">", "<") if row["stopped"] else ("", "")
                print(f"| {name}, {case.shape[0]} x {case.shape[1]} | {anchor} {tol:.0e} | {row['kkt']:.1e} | {above}{row['theirs']:.3f} | "
                      f"{row['hewn']:.3f} | {below}{row['ratio']:.3f} |", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
