"""Objectives of scikit-learn's solvers, one per line: agreement.py X.npy Y.npy LAMBDA..."""
import sys

import numpy as np
from sklearn.linear_model import MultiTaskLasso, lasso_path

x, y = np.load(sys.argv[1]), np.load(sys.argv[2])
n = len(x)
for text in sys.argv[3:]:
    lam = float(text)
    if y.shape[1] > 1:
        fit = MultiTaskLasso(alpha=lam, tol=1e-14, max_iter=200000).fit(x, y)
        rest = y - fit.predict(x)
        penalty = np.linalg.norm(fit.coef_, axis=0).sum()
    else:
        xc, yc = x - x.mean(0), y[:, 0] - y[:, 0].mean()
        _, coef, _ = lasso_path(xc, yc, alphas=[lam], tol=1e-14, max_iter=200000)
        rest = yc - xc @ coef[:, 0]
        penalty = np.abs(coef).sum()
    print(repr(float((rest ** 2).sum() / (2 * n) + lam * penalty)))
