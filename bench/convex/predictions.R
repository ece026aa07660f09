# Held-out rows of every task: Rscript predictions.R FOLDER writes tables and glmnet's predictions there.
suppressMessages(library(glmnet))
suppressMessages(library(survival))
setwd(commandArgs(TRUE)[1])
set.seed(3)
n <- 200
p <- 12
x <- matrix(rnorm(n * p), n, p)
colnames(x) <- paste0("x", 1:p)
eta <- x[, 1] - 0.7 * x[, 4] + 0.5 * x[, 7]
train <- 1:140
new <- 141:200
save <- function(table, file) write.csv(format(table, digits = 17), file, row.names = FALSE, quote = FALSE)
check <- function(name, y, family, lambda, type, column = y, extra = NULL, ...) {
  table <- data.frame(x, y = column)
  if (!is.null(extra)) table <- cbind(table, extra)
  save(table[train, ], paste0(name, "_train.csv"))
  save(data.frame(x)[new, ], paste0(name, "_new.csv"))
  responses <- if (is.matrix(y)) y[train, ] else y[train]
  fit <- glmnet(x[train, ], responses, family = family, standardize = FALSE, thresh = 1e-14, maxit = 1e7,
                lambda = lambda * c(8, 4, 2, 1), ...)
  values <- predict(fit, x[new, ], s = lambda, type = type)
  if (family == "multinomial") values <- t(values[, , 1])
  write(values, paste0(name, "_glmnet.txt"), ncolumns = 1)
}
check("gaussian", eta + 0.5 * rnorm(n), "gaussian", 0.05, "response")
check("binomial", rbinom(n, 1, plogis(eta)), "binomial", 0.02, "response")
class <- apply(cbind(eta, -eta, x[, 2]) - log(-log(matrix(runif(3 * n), n, 3))), 1, which.max)
check("multinomial", class, "multinomial", 0.02, "response", column = c("a", "b", "c")[class],
      type.multinomial = "grouped")
check("poisson", rpois(n, exp(0.5 * eta)), "poisson", 0.05, "response")
event <- rexp(n) * exp(-eta)
gone <- 2 * rexp(n)
seen <- as.numeric(event <= gone)
time <- pmin(event, gone)
check("cox", Surv(time, seen), "cox", 0.02, "link", column = time, extra = data.frame(event = seen))
