#include "hewn/data/tables/options.h"

#include "hewn/core/options.h"

namespace hewn::data {

void describe(TableOptions& options, OptionTable& table) {
  table.add("target", options.target, "csv: column to predict, by name or number from 0; default: the last");
  table.add("task", options.task, "csv: classification or regression; auto: by whether the target is text")
      .one_of({"auto", "classification", "regression"});
  table.add("categories", options.categories,
            "csv: columns of text, with commas between; 0/1 features of each value");
  table.add("ignore", options.ignore, "csv: columns to leave out, with commas between");
  table.add("header", options.header, "csv: auto, yes or no").one_of({"auto", "yes", "no"});
  table.add("separator", options.separator, "csv: between fields: one character or tab");
  table.add("impute", options.impute, "csv: none, or mean of the training rows for missing values")
      .one_of({"none", "mean"});
  table
      .add("standardise", options.standardise,
           "csv: features minus their mean, over their standard deviation, both of the training rows")
      .was("standardize");
  table.add("test-file", options.test_file,
            "csv: a table of its own for the test, instead of a share of the rows");
}

}  // namespace hewn::data
