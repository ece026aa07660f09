// How rows of a table become inputs and targets, of training data and of new rows.
#include "hewn/data/tables/encoding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hewn/core/error.h"
#include "hewn/core/rule_text.h"
#include "hewn/data/tables/cells.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::data {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

class Encoding : public testing::Test {
 protected:
  std::string file(const std::string& text, const std::string& name = "a.csv") const {
    write_text(folder_ / name, text);
    return folder_ / name;
  }
  Cells cells(const std::string& text, const TableOptions& options = {}) const {
    return read_cells(file(text), options);
  }
  /// What is wrong with a table whose rows are all for training, behind the file's name.
  std::string problem(const std::string& text, const TableOptions& options = {}) const {
    const std::string path = file(text);
    const std::string said = message_of([&] {
      const Cells all = read_cells(path, options);
      std::vector<int64_t> rows;
      for (int64_t i = 0; i < all.rows; ++i) rows.push_back(i);
      find_encoding(all, rows, options);
    });
    EXPECT_EQ(said.find('\n'), std::string::npos);
    return said.starts_with(path + ": ") ? said.substr(path.size() + 2) : said;
  }
  TempFolder folder_;
};

TEST_F(Encoding, IsFoundInTheTrainingRowsAlone) {
  const Cells all =
      cells("a,colour,k,y\n1,red,7,10\n3,blue,7,30\n5,red,7,20\n100,green,8,-5\n", {.categories = "colour"});
  const TableEncoding found = find_encoding(all, {0, 1, 2}, {.categories = "colour"});
  EXPECT_EQ(found.numbers, (std::vector<std::string>{"a", "k"}));
  ASSERT_EQ(found.categories.size(), 1U);
  EXPECT_EQ(found.categories[0].values, (std::vector<std::string>{"blue", "red"}));
  ASSERT_EQ(found.features(), 4);
  EXPECT_DOUBLE_EQ(found.means[0], 3);
  EXPECT_DOUBLE_EQ(found.scales[0], std::sqrt(8.0 / 3));
  EXPECT_EQ(found.scales[1], 0);  // one value: says nothing
  EXPECT_DOUBLE_EQ(found.means[3], 2.0 / 3);
  EXPECT_EQ(found.target, "y");
  EXPECT_TRUE(found.classes.empty());
  EXPECT_DOUBLE_EQ(found.target_mean, 20);
  const std::vector<float> inputs = encoded_inputs(all, found);
  EXPECT_FLOAT_EQ(inputs[0], static_cast<float>(-2 / found.scales[0]));
  EXPECT_EQ(inputs[3 * 4 + 1], 0);                           // another value of what was constant
  EXPECT_FLOAT_EQ(inputs[3 * 4 + 2], -1 / std::sqrt(2.0F));  // a colour that training has not seen is none
  EXPECT_FLOAT_EQ(encoded_numbers(all, found)[3], static_cast<float>(-25 / found.target_scale));
  const TableEncoding plain = find_encoding(all, {0, 1, 2}, {.categories = "colour", .standardise = false});
  EXPECT_EQ(encoded_inputs(all, plain)[3 * 4], 100);
}

TEST_F(Encoding, ClassesAreTextThroughoutOrWholeNumbersWhenAskedFor) {
  const auto classes = [&](const std::string& text, const std::string& task) {
    return find_encoding(cells(text), {0, 1, 2}, {.task = task}).classes;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(classes("a,y\n1,cat\n2,dog\n3,cat\n", "auto"), (Names{"cat", "dog"}));
  EXPECT_EQ(classes("a,y\n1,10\n2,9.0\n3,9\n", "classification"), (Names{"9", "10"}));
  EXPECT_TRUE(classes("a,y\n1,10\n2,9\n3,9\n", "auto").empty());
  const Cells all = cells("a,y\n1,cat\n2,dog\n3,cat\n");
  EXPECT_EQ(encoded_classes(all, find_encoding(all, {0, 1}, {})), (std::vector<int64_t>{0, 1, 0}));
}

TEST_F(Encoding, TheClassesOfTheRunSayWhetherLabelsAreNumbers) {
  const TableEncoding texts =
      find_encoding(cells("a,y\n1,01\n2,x\n3,x\n"), {0, 1, 2}, {.task = "classification"});
  EXPECT_EQ(encoded_classes(parse_new_rows("a,y\n1,01\n", "rows", texts), texts), (std::vector<int64_t>{0}));
  const TableEncoding numbers =
      find_encoding(cells("a,y\n1,1\n2,2\n3,2\n"), {0, 1, 2}, {.task = "classification"});
  EXPECT_EQ(
      message_of([&] { encoded_classes(parse_new_rows("a,y\n1,2.0\n2,x\n", "rows", numbers), numbers); }),
      "rows: line 3, column \"y\": \"x\" is none of the 2 classes");
}

TEST_F(Encoding, WhatCannotBeLearnedIsNamedInOneLine) {
  EXPECT_EQ(problem("a,y\n1,1\n2,2\n3,3O\n"),
            "line 4, column \"y\": expected a number as in most rows, got \"3O\"; give task classification "
            "where these are classes");
  EXPECT_EQ(problem("a,y\n1,cat\n2,7\n3,dog\n4,cat\n"),
            "line 3, column \"y\": expected text as in most rows, got \"7\"; give task classification where "
            "these are classes");
  EXPECT_EQ(problem("a,y\n1,1\n2,x\n", {.task = "regression"}),
            "line 3, column \"y\": expected a number for regression, got \"x\"");
  EXPECT_EQ(
      problem("a,y\n1,1\n2,2.5\n3,2.5\n", {.task = "classification"}),
      "line 3, column \"y\": expected text or a whole number as a class, got 2.5; for numbers give task "
      "regression");
  EXPECT_EQ(problem("a,y\n1,1\n2,\n"), "line 3, column \"y\": the target is missing");
  EXPECT_EQ(problem("a,y\n1,cat\n2,cat\n"), "column \"y\" has one class only: \"cat\"");
  EXPECT_EQ(problem("a,y\n1,r1\n2,r2\n3,r3\n"),
            "column \"y\" has 3 distinct values in 3 rows, expected 2 to 1000 classes; for numbers give task "
            "regression");
  EXPECT_EQ(problem("a,y\n1,4\n2,4\n"),
            "column \"y\" is 4 in all 2 training rows: there is nothing to learn");
  EXPECT_EQ(problem("a,y\n1,4\nx,5\n"), "line 3, column \"a\": expected a number, got \"x\"");
  EXPECT_EQ(
      problem("a,y\n1,4\nNaN,5\n"),
      "line 3, column \"a\": the value is missing; give impute mean to put the mean of the training rows "
      "there");
  EXPECT_EQ(problem("a,y\nNA,4\nNA,5\n", {.impute = "mean"}),
            "column \"a\" has no value in any training row");
  EXPECT_EQ(problem("c,y\nu,4\n,5\n", {.categories = "c"}), "line 3, column \"c\": the value is missing");
  EXPECT_EQ(problem("a,y\n1,4\n2,5\n", {.target = "z"}).substr(0, 7), "target:");
  EXPECT_EQ(problem("a,y\n1,4\n2,5\n", {.separator = ",,"}),
            "separator: expected one character or tab, got \",,\"");
  EXPECT_EQ(problem("y\n1\n2\n"), "has no columns left for features");
  EXPECT_EQ(problem(""), "is empty");
  EXPECT_EQ(problem("a,y\n"), "has a header but no samples");
  EXPECT_EQ(problem("a,\xff\n1,4\n2,5\n").substr(0, 1), "\"");
  EXPECT_EQ(message_of([&] { read_cells(folder_ / "none.csv", TableOptions{}); }),
            (folder_ / "none.csv").string() + ": no such file; expected a CSV, NPY or NPZ file");
  EXPECT_EQ(message_of([&] { read_cells(folder_.path(), TableOptions{}); }).find(folder_.path().string()),
            0U);
}

TEST_F(Encoding, AColumnThatIsUsedIsTheOnlyOneOfItsName) {
  EXPECT_EQ(problem("x,x,y\n1,2,4\n2,3,5\n"), "column \"x\" is there twice");
  EXPECT_EQ(problem("y,a,y\n1,2,4\n2,3,5\n"), "column \"y\" is there twice");
  EXPECT_EQ(problem(",,y\n1,2,4\n2,3,5\n", {.header = "yes"}), "column \"\" is there twice");
  EXPECT_EQ(problem("c,c,a,y\nu,u,1,4\nu,v,2,5\n", {.categories = "c,1"}), "column \"c\" is there twice");
  EXPECT_EQ(problem("x,x,a,y\n1,2,1,4\n2,3,2,5\n", {.ignore = "0,1"}), "");
  const TableEncoding found = find_encoding(cells("a,y\n1,4\n2,5\n"), {0, 1}, {});
  EXPECT_EQ(message_of([&] { parse_new_rows("a,a\n1,2\n", "stdin", found); }),
            "stdin: column \"a\" is there twice");
  EXPECT_EQ(parse_new_rows("b,a,b\n7,1,7\n", "stdin", found).values, (std::vector<double>{1}));
}

TEST_F(Encoding, WhatCannotBeRecordedIsNotLearned) {
  const auto table = [](int columns, const std::string& name) {
    std::string names;
    std::string zeros;
    for (int c = 0; c < columns; ++c) {
      names += str(name, c, ",");
      zeros += "0,";
    }
    return names + "y\n" + zeros + "1\n" + zeros + "2\n";
  };
  EXPECT_EQ(problem(table(1100, std::string(1000, 'x'))),
            "the record of its columns and their values is longer than 1048576 bytes; leave columns out with "
            "ignore");
  EXPECT_EQ(problem(table(9000, "a::")), "");  // colons in names are no keys
  EXPECT_EQ(keys_in(R"({"a:\":":1,"b":["::"]})"), 2U);
}

TEST_F(Encoding, NumbersOfAnySizeAreScaled) {
  const TableEncoding found =
      find_encoding(cells("a,b,y\n1e200,1e-200,4\n3e200,3e-200,8\n"), {0, 1}, TableOptions{});
  EXPECT_DOUBLE_EQ(found.scales[0], 1e200);
  EXPECT_DOUBLE_EQ(found.scales[1], 1e-200);
  EXPECT_EQ(found.target_scale, 2);
  EXPECT_EQ(problem("a,y\n1e308,4\n-1e308,5\n"), "column \"a\": the numbers are too large to be scaled");
  EXPECT_EQ(problem("a,y\n1,1e308\n2,-1e308\n"), "column \"y\": the numbers are too large to be scaled");
}

TEST_F(Encoding, HolesGetTheMeanOfTheTrainingRows) {
  const TableOptions options{.impute = "mean"};
  const Cells all = cells("a,y\n1,4\n3,5\n,6\n100,7\n", options);
  const TableEncoding found = find_encoding(all, {0, 1, 2}, options);
  EXPECT_EQ(found.means[0], 2);
  EXPECT_EQ(encoded_inputs(all, found)[2], 0);
}

TEST_F(Encoding, ArraysAreTablesToo) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};  // column after column
  io::write_npy(folder_ / "x.npy", 3, 3, values.data());
  io::write_npy(folder_ / "y.npy", 3, 1, values.data());
  const Cells one = read_cells(folder_ / "x.npy", {.target = "1"});
  EXPECT_EQ(one.numbers, (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(one.answers, (std::vector<std::string>{"4", "5", "6"}));
  const Cells two =
      read_cells((folder_ / "x.npy").string() + "," + (folder_ / "y.npy").string(), TableOptions{});
  EXPECT_EQ(two.numbers.size(), 3U);
  EXPECT_EQ(two.answers, (std::vector<std::string>{"1", "2", "3"}));
  const std::vector<float> floats = {1, 2, 3, 4};
  io::write_npz(folder_ / "a.npz",
                {{"X", io::npy_bytes(2, 2, floats.data())}, {"y", io::npy_bytes(2, 1, floats.data())}});
  EXPECT_EQ(read_cells(folder_ / "a.npz", TableOptions{}).answers, (std::vector<std::string>{"1", "2"}));
  EXPECT_NE(message_of([&] { read_cells(folder_ / "x.npy", {.ignore = "1"}); }), "");
  // New rows without the target, in the order of the features.
  const TableEncoding found = find_encoding(one, {0, 1, 2}, {});
  io::write_npy(folder_ / "new.npy", 1, 2, values.data());
  EXPECT_EQ(read_new_rows(folder_ / "new.npy", found).values, (std::vector<double>{1, 2}));
}

TEST_F(Encoding, AnArrayHasNoColumnsOfText) {
  const TableOptions options{.categories = "c"};
  const Cells all = cells("a,c,y\n1,u,10\n2,v,30\n4,u,20\n", options);
  const TableEncoding found = find_encoding(all, {0, 1, 2}, options);
  const std::vector<float> values = {1, 2, 3, 4};
  EXPECT_EQ(message_of([&] { parse_new_rows(io::npy_bytes(2, 2, values.data()), "stdin", found); }),
            "stdin: is an array of numbers, the model takes columns of text too; expected a CSV file");
}

TEST_F(Encoding, NewRowsAreFoundByTheNamesOfTheirColumns) {
  const TableOptions options{.categories = "c"};
  const Cells all = cells("a,c,b,y\n1,u,4,10\n2,v,6,30\n4,u,5,20\n", options);
  const TableEncoding found = find_encoding(all, {0, 1, 2}, options);
  const std::vector<float> before = encoded_inputs(all, found);
  const Cells turned =
      read_new_rows(file("b,extra,c,a\n4,text,u,1\n6,text,v,2\n5,text,u,4\n", "b.csv"), found);
  EXPECT_EQ(turned.target, "");
  EXPECT_EQ(encoded_inputs(turned, found), before);
  EXPECT_EQ(encoded_inputs(parse_new_rows("1,u,4\n2,v,6\n4,u,5\n", "stdin", found), found), before);
  EXPECT_EQ(message_of([&] { parse_new_rows("a,c\n1,u\n", "stdin", found); }),
            "stdin: has no column \"b\", which the model takes (did you mean a?)");
  EXPECT_EQ(message_of([&] { encoded_numbers(turned, found); }),
            turned.where + ": has no column with the target");
  EXPECT_EQ(
      message_of([&] { encoded_inputs(parse_new_rows("1,u,nan\n", "stdin", found), found); }).substr(0, 6),
      "stdin:");
}

TEST_F(Encoding, NewRowsWithoutNamesStandInTheOrderOfTheTrainingTable) {
  const TableOptions options{.target = "0", .categories = "1", .ignore = "4", .header = "no"};
  const Cells all = cells("10,u,1,4,7\n30,v,2,6,7\n20,u,4,5,7\n", options);
  const TableEncoding found =
      table_encoding(table_preprocessing(find_encoding(all, {0, 1, 2}, options)), "m.hewn");
  const Cells whole = parse_new_rows("10,u,1,4,7\n", "stdin", found);
  EXPECT_EQ(whole.values, (std::vector<double>{1, 4}));
  EXPECT_EQ(whole.answers, (std::vector<std::string>{"10"}));
  const Cells features = parse_new_rows("u,1,4\n", "stdin", found);
  EXPECT_EQ(features.values, whole.values);
  EXPECT_EQ(features.texts, whole.texts);
  EXPECT_EQ(features.target, "");
  EXPECT_EQ(message_of([&] { parse_new_rows("u,1,4,7\n", "stdin", found); }),
            "stdin: has 4 columns without names, expected the 3 that the model takes or all 5 of its "
            "training table");
  // An array of the features, and one of the target beside it.
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  io::write_npy(folder_ / "x.npy", 3, 3, values.data());
  io::write_npy(folder_ / "new.npy", 3, 2, values.data());
  io::write_npy(folder_ / "y.npy", 3, 1, values.data());
  const TableEncoding middle = find_encoding(read_cells(folder_ / "x.npy", {.target = "1"}), {0, 1, 2}, {});
  const std::string pair = (folder_ / "new.npy").string() + "," + (folder_ / "y.npy").string();
  EXPECT_EQ(read_new_rows(pair, middle).values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read_new_rows(pair, middle).answers, (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(Encoding, IsRecordedWhole) {
  const TableOptions options{.categories = "c", .impute = "mean"};
  const Cells all = cells("a,c,y\n0.1,u,cat\n0.2,v,dog\n0.7,u,cat\n", options);
  const Preprocessing record = table_preprocessing(find_encoding(all, {0, 1, 2}, options));
  EXPECT_EQ(record.classes, (std::vector<std::string>{"cat", "dog"}));
  const auto again = [](Preprocessing one) {
    one.rule = Json::parse(one.rule.dump());
    return table_encoding(one, "m.hewn");
  };
  EXPECT_EQ(encoded_inputs(all, again(record)), encoded_inputs(all, find_encoding(all, {0, 1, 2}, options)));
  // Files may be hostile.
  Preprocessing bad = record;
  bad.rule.erase("numbers");
  EXPECT_EQ(message_of([&] { again(bad); }), "m.hewn: does not say how rows of a table become inputs");
  bad = record;
  bad.arrays["means"] = std::vector<double>{1};
  EXPECT_EQ(message_of([&] { again(bad); }),
            "m.hewn: what it says of a table's columns does not fit together");
  bad = record;
  bad.arrays["scales"] = std::vector<double>{1, -1, 1};
  EXPECT_NE(message_of([&] { again(bad); }), "");
  bad = record;
  bad.rule["target"]["name"] = "a";
  EXPECT_EQ(message_of([&] { again(bad); }),
            "m.hewn: what it says of a table's columns does not fit together");
  bad = record;
  bad.rule["layout"]["features"] = {0, 7};
  EXPECT_EQ(message_of([&] { again(bad); }),
            "m.hewn: what it says of a table's columns does not fit together");
  bad.rule["kind"] = 7;
  EXPECT_FALSE(is_table_rule(bad.rule));
}

}  // namespace
}  // namespace hewn::data
