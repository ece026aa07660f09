# Objectives of glmnet, one per line: Rscript agreement.R FAMILY X.csv Y.csv LAMBDA...  (falling)
suppressMessages(library(glmnet))
args <- commandArgs(TRUE)
family <- args[1]
x <- as.matrix(read.csv(args[2], header = FALSE))
y <- as.matrix(read.csv(args[3], header = FALSE))
lambdas <- as.numeric(args[-(1:3)])
extra <- list()
if (family == "multinomial") extra$type.multinomial <- "grouped"
fit <- do.call(glmnet, c(list(x, if (ncol(y) == 1) y[, 1] else y, family = family, lambda = lambdas,
                              standardize = FALSE, thresh = 1e-15, maxit = 1e7), extra))
for (i in seq_along(lambdas)) {
  b <- if (is.list(fit$beta)) sapply(fit$beta, function(m) m[, i]) else as.matrix(fit$beta[, i])
  a <- if (is.matrix(fit$a0)) fit$a0[, i] else fit$a0[i]
  eta <- sweep(x %*% b, 2, a, "+")
  loss <- switch(family,
    gaussian = , mgaussian = sum((y - eta)^2) / 2,
    binomial = sum(log1p(exp(eta)) - y * eta),
    poisson = sum(exp(eta) - y * eta),
    multinomial = sum(log(rowSums(exp(eta)))) - sum(y * eta))
  cat(format(loss / nrow(x) + lambdas[i] * sum(sqrt(rowSums(b^2))), digits = 16), "\n")
}
