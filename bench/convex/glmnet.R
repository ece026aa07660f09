# Rscript glmnet.R X.bin Y.bin FAMILY LAMBDAS MIN_RATIO THRESH: one JSON line with CPU seconds and KKT violation.
# Rscript glmnet.R DATA.csv OUTPUTS FAMILY LAMBDAS MIN_RATIO THRESH: reads the table, whose last columns are the
# responses, and fits.
suppressMessages(library(glmnet))
args <- commandArgs(TRUE)
family <- args[3]
cold <- grepl("csv$", args[1])
load <- function(path) {
  file <- file(path, "rb")
  shape <- readBin(file, "integer", 2)
  out <- matrix(readBin(file, "double", shape[1] * shape[2]), shape[1], shape[2])
  close(file)
  out
}
if (cold) {
  data <- data.table::fread(args[1], nThread = 1)
  outputs <- if (family == "multinomial") 1 else as.integer(args[2])
  p <- ncol(data) - outputs
  x <- as.matrix(data[, seq_len(p), with = FALSE])
  y <- as.matrix(data[, p + seq_len(outputs), with = FALSE])
  response <- if (family == "multinomial") factor(y[, 1]) else if (outputs == 1) y[, 1] else y
} else {
  x <- load(args[1])
  y <- load(args[2])
  response <- if (ncol(y) == 1) y[, 1] else y
}
glmnet.control(fdev = 0, devmax = 1)  # the whole path, as all others
call <- list(x, response, family = family, nlambda = as.integer(args[4]), lambda.min.ratio = as.numeric(args[5]),
             thresh = as.numeric(args[6]), standardize = FALSE, maxit = 1e7)
if (family == "multinomial") call$type.multinomial <- "grouped"
time <- system.time(fit <- suppressWarnings(do.call(glmnet, call)))
if (cold) {
  cat("{}\n")
  quit()
}
worst <- 0
for (i in seq_along(fit$lambda)) {
  lambda <- fit$lambda[i]
  b <- if (is.list(fit$beta)) sapply(fit$beta, function(m) m[, i]) else as.matrix(fit$beta[, i])
  a <- if (is.matrix(fit$a0)) fit$a0[, i] else fit$a0[i]
  eta <- sweep(x %*% b, 2, a, "+")
  top <- apply(eta, 1, max)
  p <- switch(family, multinomial = exp(eta - top) / rowSums(exp(eta - top)), binomial = 1 / (1 + exp(-eta)), eta)
  g <- crossprod(x, y - p) / nrow(x)
  norm <- sqrt(rowSums(b^2))
  violation <- ifelse(norm > 0, sqrt(rowSums((g - lambda * b / pmax(norm, 1e-300))^2)),
                      pmax(0, sqrt(rowSums(g^2)) - lambda))
  worst <- max(worst, violation / lambda)
}
loss <- switch(family,
  multinomial = mean(top + log(rowSums(exp(eta - top))) - rowSums(y * eta)),
  binomial = mean(log1p(exp(eta)) - y * eta),
  sum((y - eta)^2) / 2 / nrow(x))
cat(sprintf('{"cpu": %.4f, "kkt": %.6g, "objective": %.12g, "lambdas": %d}\n', sum(time[1:2]), worst,
            loss + lambda * sum(norm), length(fit$lambda)))
