#!/usr/bin/env python3
"""Paths of hewn against glmnet and scikit-learn, one thread, CPU seconds, at equal KKT residual.

The other solver runs first; the largest relative violation of the optimality conditions that it leaves along the path
becomes hewn's tolerance. Needs r-cran-glmnet and python3-sklearn. usage: run.py [--repeat N] [--json FILE] [PROBLEM...]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PROGRAM = HERE.parent.parent / "build/release/bench/convex_path"
ENV = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def problems(np):
    rng = np.random.default_rng(0)

    def design(n, p):  # columns correlated 0.3
        return np.sqrt(0.7) * rng.standard_normal((n, p)) + np.sqrt(0.3) * rng.standard_normal((n, 1))

    x = design(1000, 1000)
    b = np.zeros((1000, 10))
    b[:50] = rng.standard_normal((50, 10))
    yield "multi-response", x, x @ b + 3 * rng.standard_normal((1000, 10)), "gaussian", "mgaussian", 0.05
    x = design(500, 10000)
    b = np.zeros(10000)
    b[rng.choice(10000, 50, False)] = rng.standard_normal(50)
    yield "lasso", x, (x @ b + 2 * rng.standard_normal(500))[:, None], "gaussian", "gaussian", 0.05
    from sklearn.datasets import load_digits

    digits = load_digits()
    x = digits.data[:, digits.data.std(0) > 0]
    yield "digits", (x - x.mean(0)) / x.std(0), np.eye(10)[digits.target], "multinomial", "multinomial", 0.01


ANCHORS = {  # problem -> (anchor, its tolerance, target ratio)
    "multi-response": [("glmnet", 1e-7, 0.6), ("glmnet", 1e-9, 0.6), ("sklearn", 1e-4, 0.1)],
    "lasso": [("glmnet", 1e-7, 1.0), ("glmnet", 1e-9, 1.0), ("sklearn", 1e-4, 0.1)],
    "digits": [("glmnet", 1e-7, 0.4)],
}


def output(command):
    done = subprocess.run([str(c) for c in command], env=ENV, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", nargs="*")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each; the fastest counts")
    parser.add_argument("--lambdas", type=int, default=100)
    parser.add_argument("--json", help="write results to this file")
    args = parser.parse_args()
    try:
        import numpy as np
        import sklearn  # noqa: F401
    except ImportError:
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv]) if sys.executable != "/usr/bin/python3" else sys.exit(
            "numpy and scikit-learn are needed (python3-sklearn)")
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing: ./dev build")
    rows = []
    print(f"{'problem':15} {'against':8} {'tol':>6} {'KKT':>9} {'theirs':>8} {'hewn':>8} {'ratio':>6} {'target':>6}  objective - theirs")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, x, y, loss, family, ratio in problems(np):
            if args.problem and name not in args.problem:
                continue
            for key, a in (("x", x), ("y", y)):
                np.save(folder / f"{key}.npy", np.asfortranarray(a))
                with open(folder / f"{key}.bin", "wb") as f:
                    f.write(np.array(a.shape, "<i4").tobytes() + np.asfortranarray(a, "<f8").tobytes(order="F"))
            for anchor, tol, target in ANCHORS[name]:
                if anchor == "glmnet":
                    command = ["Rscript", HERE / "glmnet.R", folder / "x.bin", folder / "y.bin", family, args.lambdas, ratio, tol]
                else:
                    command = ["/usr/bin/python3", HERE / "sklearn_path.py", folder / "x.npy", folder / "y.npy", args.lambdas, ratio, tol]
                theirs, own = [], []
                for _ in range(args.repeat if anchor == "glmnet" else 1):
                    theirs.append(output(command))
                    own.append(output([PROGRAM, folder / "x.npy", folder / "y.npy", loss, 1, args.lambdas, ratio, theirs[0]["kkt"]]))
                a, b = min(theirs, key=lambda r: r["cpu"]), min(own, key=lambda r: r["cpu"])
                row = {"problem": name, "against": anchor, "tolerance": tol, "target": target, "theirs": a, "hewn": b,
                       "ratio": b["cpu"] / a["cpu"]}
                rows.append(row)
                print(f"{name:15} {anchor:8} {tol:6.0e} {a['kkt']:9.2e} {a['cpu']:8.3f} {b['cpu']:8.3f} {row['ratio']:6.2f} "
                      f"{target:6.2f}  {(b['objective'] - a['objective']) / abs(a['objective']):+.1e}", flush=True)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
