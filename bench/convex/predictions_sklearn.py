"""Compares hewn predict with scikit-learn's predictions on held-out rows: predictions_sklearn.py HEWN

Cox models are compared with glmnet alone (predictions.py): scikit-learn has none. Its Poisson models know ridge only, its
multinomial ones penalise coefficients one by one (--block 1x1).
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, MultiTaskLasso, PoissonRegressor

warnings.filterwarnings("ignore")
ROWS, COLUMNS, NEW = 200, 12, 60
TRAIN = ROWS - NEW


def logistic(lam):
    return LogisticRegression(penalty="l1", C=1 / (lam * TRAIN), solver="saga", tol=1e-13, max_iter=200000)


def cases(rng, x):
    eta = x[:, 0] - 0.7 * x[:, 3] + 0.5 * x[:, 6]
    noise = rng.standard_normal((ROWS, 2))
    number = eta + 0.5 * noise[:, 0]
    several = np.stack([number, 0.5 * eta - x[:, 1] + 0.5 * noise[:, 1]], 1)
    scores = np.stack([eta, -eta, x[:, 1]], 1) + rng.gumbel(size=(ROWS, 3))
    lasso = ["--method", "group-lasso", "--lambda"]
    exact = {"tol": 1e-14, "max_iter": 200000}
    yield "gaussian", number, Lasso(alpha=0.05, **exact), [*lasso, "0.05"], "predict"
    yield "gaussian, elastic net", number, ElasticNet(alpha=0.1, l1_ratio=0.4, **exact), [*lasso, "0.1", "--mix", "0.4"], "predict"
    yield "gaussian, two responses", several, MultiTaskLasso(alpha=0.05, **exact), [*lasso, "0.05"], "predict"
    label = (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int)
    yield "binomial", label, logistic(0.02), [*lasso, "0.02", "--task", "binomial"], "predict_proba"
    yield "multinomial", np.array(["a", "b", "c"])[scores.argmax(1)], logistic(0.02), [
        *lasso, "0.02", "--task", "multinomial", "--block", "1x1"], "predict_proba"
    yield "poisson", rng.poisson(np.exp(0.5 * eta)), PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=100000), [
        *lasso, "0", "--ridge", "0.1", "--task", "poisson"], "predict"


def write_table(path, x, y=None):
    columns = [f"x{j}" for j in range(x.shape[1])]
    rows = [[repr(float(v)) for v in row] for row in x]
    if y is not None:
        y = y.reshape(len(y), -1)
        columns += [f"y{k}" for k in range(y.shape[1])]
        rows = [row + [v if isinstance(v, str) else repr(v.item()) for v in own] for row, own in zip(rows, y)]
    path.write_text("\n".join(",".join(row) for row in [columns, *rows]) + "\n")


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def main(hewn):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((ROWS, COLUMNS))
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for task, y, model, options, call in cases(rng, x):
            write_table(folder / "train.csv", x[:TRAIN], y[:TRAIN])
            write_table(folder / "new.csv", x[TRAIN:])
            targets = ",".join(f"y{k}" for k in range(y.reshape(ROWS, -1).shape[1]))
            run(hewn, "select", folder / "train.csv", "--targets", targets, "--tolerance", "1e-9", "--to", folder / "m.json", *options)
            answer = json.loads(run(hewn, "predict", folder / "m.json", folder / "new.csv", "--json"))
            ours = np.array(answer["probabilities" if call == "predict_proba" else "predictions"])
            theirs = getattr(model.fit(x[:TRAIN], y[:TRAIN]), call)(x[TRAIN:])
            difference = np.abs(ours.reshape(NEW, -1) - theirs.reshape(NEW, -1)).max()
            worst = max(worst, difference)
            print(f"{task}: {theirs.size} values, largest difference {difference:.2g}", flush=True)
    sys.exit(bool(worst > 1e-6))


main(sys.argv[1])
