// Columns that mean something besides a number: classes, categories, offsets, weights, and archives of
// arrays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "hewn/convex/select.h"
#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "tests/convex/support.h"
#include "tests/support/message.h"
#include "tests/support/temp_folder.h"

namespace hewn::convex {
namespace {

using test::message_of;
using test::TempFolder;
using test::write_text;

TEST(Select, NumbersAreTheSameClassHoweverTheyAreWritten) {
  const TempFolder folder;
  write_text(folder / "a.csv", "x,y\n1,0\n2,1.0\n3,-0.0\n4,1e0\n5,+1\n");
  DatasetOptions options;
  options.task = "binomial";
  EXPECT_EQ(read_dataset(folder / "a.csv", options).problem.y.sum(), 3);
  // Large ones stay apart.
  write_text(folder / "b.csv", "x,y\n1,10000001\n2,10000002\n3,10000003\n");
  options.task = "multinomial";
  EXPECT_EQ(read_dataset(folder / "b.csv", options).outputs,
            (std::vector<std::string>{"10000001", "10000002", "10000003"}));
}

TEST(Select, CategoriesAreGroupsOfTheirOwn) {
  const TempFolder folder;
  std::string text = "size,colour,y\n";
  for (int i = 0; i < 30; ++i) {
    text += str(i * 7 % 11, ",",
                i % 3 == 0   ? "red"
                : i % 3 == 1 ? "green"
                             : "blue",
                ",", i % 3 == 1 ? 5 : 1, "\n");
  }
  write_text(folder / "a.csv", text);
  EXPECT_THROW(read_dataset(folder / "a.csv", {}), FormatError);  // not without being asked
  DatasetOptions options;
  options.categories = {"colour"};
  const Dataset data = read_dataset(folder / "a.csv", options);
  EXPECT_EQ(data.features, (std::vector<std::string>{"size", "colour=blue", "colour=green", "colour=red"}));
  SelectOptions one;
  one.k = 1;
  const Selection found = select(data, one, nullptr);
  EXPECT_EQ(found.problem.groups.count(), 2);
  EXPECT_EQ(found.selected, std::vector<Index>{1});
  EXPECT_EQ(found.group_names[1], "colour");
  EXPECT_LT(found.losses[0], 1e-12);
  one.group_size = 2;
  EXPECT_THROW(select(data, one, nullptr), Error);
  options.categories = {"colour", "y"};
  EXPECT_THROW(read_dataset(folder / "a.csv", options), Error);  // the target already
}

TEST(Select, OffsetIsTakenAsGiven) {
  const TempFolder folder;
  write_text(folder / "a.csv", "x,known,y\n1,10,11\n2,-3,-1\n3,7,10\n4,0,4\n");
  DatasetOptions options;
  options.offset = "known";
  const Dataset data = read_dataset(folder / "a.csv", options);
  EXPECT_EQ(data.features, std::vector<std::string>{"x"});
  SelectOptions one;
  one.k = 1;
  const Selection found = select(data, one, nullptr);
  EXPECT_LT(found.losses[0], 1e-20);
  EXPECT_NEAR(found.solution.values[0], 1, 1e-9);
  options.targets = {"x", "y"};
  EXPECT_THROW(read_dataset(folder / "a.csv", options), Error);  // two outputs
  options.targets = {"y", "y"};
  EXPECT_THROW(read_dataset(folder / "a.csv", options), Error);
}

TEST(Select, ReadsArchivesOfArrays) {
  const TempFolder folder;
  // As numpy.savez_compressed writes X = [[0, 1, 2], [3, 4, 5]] and y = [1, 2].
  const auto path = std::filesystem::path(HEWN_SOURCE_DIR) / "tests/fuzz/tables/npz-deflated";
  write_text(folder / "a.npz", read_file(path).substr(1));  // the first byte tells the fuzzer what it is
  DatasetOptions options;
  options.task = "multinomial";
  const Dataset data = read_dataset(folder / "a.npz", options);
  EXPECT_EQ(data.problem.x->rows(), 2);
  EXPECT_EQ(data.features.size(), 3U);
  EXPECT_EQ(data.outputs, (std::vector<std::string>{"1", "2"}));
  options.targets = {"0"};
  EXPECT_THROW(read_dataset(folder / "a.npz", options), Error);
}

TEST(Select, WeightsColumnCounts) {
  const TempFolder folder;
  write_text(folder / "a.csv", "x,w,y\n1,1,1\n2,0,50\n3,2,3\n4,1,4\n");
  DatasetOptions options;
  options.weights = "w";
  const Dataset data = read_dataset(folder / "a.csv", options);
  EXPECT_EQ(data.features, std::vector<std::string>{"x"});
  SelectOptions one;
  one.k = 1;
  EXPECT_LT(select(data, one, nullptr).losses[0], 1e-20);
}

/// The bytes of a text array of three letters, as NumPy writes them.
std::string format_array(const std::string& name) {
  std::string header = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
  header.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + name;
}

std::string number_array(const std::vector<float>& values) {
  return io::npy_bytes(static_cast<int64_t>(values.size()), 1, values.data());
}

TEST(Select, SparseArchivesAreTheSameTable) {
  const TempFolder folder;
  // y = 2 x1 of a 5 x 3 matrix, by columns and by rows.
  const std::vector<float> y = {0, 4, 0, -2, 6};
  const auto archive = [&](const std::string& format, const std::vector<float>& start,
                           const std::vector<float>& at, const std::vector<float>& values) {
    io::write_npz(folder / "x.npz", {{"indices", number_array(at)},
                                     {"indptr", number_array(start)},
                                     {"format", format_array(format)},
                                     {"shape", number_array({5, 3})},
                                     {"data", number_array(values)},
                                     {"y", number_array(y)}});
  };
  SelectOptions options;
  options.k = 1;
  archive("csc", {0, 2, 5, 6}, {4, 0, 1, 3, 4, 2}, {1, 5, 2, -1, 3, 7});
  const Dataset by_columns = read_dataset(folder / "x.npz", {});
  archive("csr", {0, 1, 2, 3, 4, 6}, {0, 1, 2, 1, 1, 0}, {5, 2, 7, -1, 3, 1});
  const Dataset by_rows = read_dataset(folder / "x.npz", {});
  for (const Dataset* data : {&by_columns, &by_rows}) {
    const Selection found = select(*data, options, nullptr);
    EXPECT_EQ(found.selected, std::vector<Index>{1});
    EXPECT_NEAR(found.solution.values.at(0), 2, 1e-9);
    Matrix sums(3, 1);
    data->problem.x->transpose_times(Matrix::Ones(5, 1), sums);
    EXPECT_EQ(sums, (Matrix(3, 1) << 6, 4, 7).finished());
  }
  archive("csr", {0, 1, 2, 3, 4, 9}, {0, 1, 2, 1, 1, 0}, {5, 2, 7, -1, 3, 1});
  EXPECT_THROW(read_dataset(folder / "x.npz", {}), FormatError);
  archive("coo", {0, 1, 2, 3, 4, 6}, {0, 1, 2, 1, 1, 0}, {5, 2, 7, -1, 3, 1});
  EXPECT_THROW(read_dataset(folder / "x.npz", {}), FormatError);
}

}  // namespace
}  // namespace hewn::convex
