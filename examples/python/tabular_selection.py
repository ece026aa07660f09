"""Selects groups of columns of a table: a few that predict as well as all of them, with a certificate."""

import numpy as np

import hewn

rng = np.random.default_rng(0)
groups = np.repeat([f"sensor {i}" for i in range(20)], 3)
X = rng.normal(size=(500, 60))
y = X[:, 6] - X[:, 8] + 0.7 * X[:, 30] + 0.5 * rng.normal(size=500)

lasso = hewn.GroupLasso(None, groups=groups, cv=5).fit(X, y)
print("group LASSO, lambda by cross-validation:", ", ".join(lasso.groups_))
print("  ", lasso.certificate_)

greedy = hewn.GroupSelector("ompr", k=2, groups=groups).fit(X, y)
print("the best two by OMP with replacement:", ", ".join(greedy.groups_))
print(f"   R2 {greedy.score(X, y):.3f}, columns {greedy.get_support(indices=True).tolist()}")
