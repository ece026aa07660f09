"""Problems of run.py: name, features, responses, loss, glmnet's family, least lambda as a share of the largest."""


def design(np, rng, n, p, correlation=0.3):  # equicorrelated columns
    return np.sqrt(1 - correlation) * rng.standard_normal((n, p)) + np.sqrt(correlation) * rng.standard_normal((n, 1))


def effects(np, rng, p, outputs, active):
    b = np.zeros((p, outputs))
    b[rng.choice(p, active, False)] = rng.standard_normal((active, outputs))
    return b


def gaussian(np, seed, shape, outputs=1, correlation=0.3, noise=2.0):
    rng = np.random.default_rng(seed)
    x = design(np, rng, *shape, correlation)
    return x, x @ effects(np, rng, shape[1], outputs, 50) + noise * rng.standard_normal((shape[0], outputs))


def binomial(np, seed, shape, correlation=0.3):
    rng = np.random.default_rng(seed)
    x = design(np, rng, *shape, correlation)
    eta = x @ effects(np, rng, shape[1], 1, 30) / 2
    return x, (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(float)


def classes(np, seed, shape, count):
    rng = np.random.default_rng(seed)
    x = design(np, rng, *shape)
    eta = x @ effects(np, rng, shape[1], count, 30) / 2
    return x, np.eye(count)[(eta + rng.gumbel(size=eta.shape)).argmax(1)]


def digits(np):
    from sklearn.datasets import load_digits

    data = load_digits()
    x = data.data[:, data.data.std(0) > 0]
    return (x - x.mean(0)) / x.std(0), np.eye(10)[data.target]


def toeplitz(np, seed, n, p, correlation):  # neighbours correlated most
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    for j in range(1, p):
        x[:, j] = correlation * x[:, j - 1] + np.sqrt(1 - correlation**2) * x[:, j]
    return x, x @ effects(np, rng, p, 1, 50) + 2 * rng.standard_normal((n, 1))


PROBLEMS = {
    "tall": (lambda np: gaussian(np, 0, (20000, 300)), "gaussian", "gaussian", 0.05),
    "tall, to the end": (lambda np: gaussian(np, 0, (20000, 300)), "gaussian", "gaussian", 0.001),
    "wide": (lambda np: gaussian(np, 1, (500, 10000)), "gaussian", "gaussian", 0.05),
    "correlated": (lambda np: gaussian(np, 2, (2000, 500), 1, 0.9), "gaussian", "gaussian", 0.01),
    "correlated, neighbours": (lambda np: toeplitz(np, 3, 1000, 2000, 0.95), "gaussian", "gaussian", 0.05),
    "multi-response": (lambda np: gaussian(np, 4, (1000, 1000), 10, 0.3, 3.0), "gaussian", "mgaussian", 0.05),
    "grouped, tall": (lambda np: gaussian(np, 5, (5000, 200), 6), "gaussian", "mgaussian", 0.01),
    "grouped, wide": (lambda np: gaussian(np, 6, (300, 3000), 6), "gaussian", "mgaussian", 0.1),
    "multinomial": (digits, "multinomial", "multinomial", 0.01),
    "binomial": (lambda np: binomial(np, 7, (1000, 2000)), "binomial", "binomial", 0.05),
    "binomial, tall": (lambda np: binomial(np, 8, (10000, 100)), "binomial", "binomial", 0.01),
    "binomial, wider": (lambda np: binomial(np, 9, (500, 5000)), "binomial", "binomial", 0.05),
    "binomial, correlated": (lambda np: binomial(np, 10, (1000, 500), 0.9), "binomial", "binomial", 0.01),
    "multinomial, wide": (lambda np: classes(np, 11, (500, 1000), 3), "multinomial", "multinomial", 0.05),
}
