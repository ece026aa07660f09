// What files may ask of operators and must not get: each is an error of one line, none of them a crash.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hewn/core/error.h"
#include "tests/flow/call.h"

namespace hewn::flow {
namespace {

using List = std::vector<int64_t>;
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();

void expect_refused(const std::vector<Single>& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    EXPECT_THROW(calls[i].run(), Error) << calls[i].op << ", call " << i;
  }
}

TEST(Operators, RefuseWindowsThatCannotBe) {
  const Tensor image = zeros({1, 1, 4, 4});
  const Tensor weight = zeros({1, 1, 3, 3});
  expect_refused({
      {"Conv", {{"strides", List{0, 1}}}, {image, weight}},
      {"Conv", {{"strides", List{-1, 1}}}, {image, weight}},
      {"Conv", {{"strides", List{1}}}, {image, weight}},
      {"Conv", {{"dilations", List{kHuge, 1}}}, {image, weight}},
      {"Conv", {{"dilations", List{0, 1}}}, {image, weight}},
      {"Conv", {{"pads", List{-1, 0, 0, 0}}}, {image, weight}},
      {"Conv", {{"pads", List{kHuge, kHuge, kHuge, kHuge}}}, {image, weight}},
      {"Conv", {{"pads", List{1 << 27, 1 << 27, 0, 0}}}, {image, weight}},
      {"Conv", {{"group", int64_t{0}}}, {image, weight}},
      {"Conv", {{"group", int64_t{2}}}, {image, weight}},
      {"Conv", {{"auto_pad", std::string("SAME")}}, {image, weight}},
      {"Conv", {{"kernel_shape", List{5, 5}}}, {image, weight}},
      {"Conv", {{"strides", int64_t{1}}}, {image, weight}},
      {"Conv", {}, {zeros({1, 1, 2, 2}), weight}},
      {"Conv", {}, {zeros({1, 1, 4, 4, 4}), zeros({1, 1, 3, 3, 3})}},
      {"Conv", {}, {image, zeros({1, 1, 0, 3})}},
      {"Conv", {}, {image, weight, zeros({2})}},
      {"Conv", {}, {image, ints({1})}},
      {"Conv", {}, {image}},
      {"MaxPool", {}, {image}},
      {"MaxPool", {{"kernel_shape", List{0, 2}}}, {image}},
      {"MaxPool", {{"kernel_shape", List{kHuge, kHuge}}}, {image}},
      {"MaxPool", {{"kernel_shape", List{2}}}, {image}},
      {"AveragePool", {{"kernel_shape", List{2, 2}}, {"strides", List{0, 0}}}, {image}},
      {"GlobalMaxPool", {}, {zeros({1, 1, 0, 0})}},
  });
}

TEST(Operators, PoolsMayLookAtPaddingAlone) {
  const Single pool = {
      "MaxPool", {{"kernel_shape", List{1, 1}}, {"pads", List{2, 2, 2, 2}}}, {zeros({1, 1, 1, 1})}, 17, 2};
  EXPECT_EQ(pool.run()[0].dims(), (Dims{1, 1, 5, 5}));
  const Single average = {"AveragePool", pool.attributes, pool.inputs};
  EXPECT_EQ(average.run()[0].values<float>()[0], 0);
}

TEST(Operators, RefuseShapesThatCannotBe) {
  const Tensor two = zeros({2, 3});
  expect_refused({
      {"Reshape", {}, {two, ints({-1, -1})}},
      {"Reshape", {}, {two, ints({-2, 3})}},
      {"Reshape", {}, {two, ints({4, 4})}},
      {"Reshape", {}, {two, ints({0, 0, 0})}},
      {"Reshape", {}, {two, ints({kHuge, kHuge})}},
      {"Reshape", {{"allowzero", int64_t{1}}}, {two, ints({0, -1})}},
      {"Expand", {}, {two, ints({kHuge, 2, 3})}},
      {"Expand", {}, {two, ints({-1, 2, 3})}},
      {"Expand", {}, {two, ints({4, 3})}},
      {"Tile", {}, {two, ints({-1, 1})}},
      {"Tile", {}, {two, ints({kHuge, kHuge})}},
      {"Tile", {}, {two, ints({1})}},
      {"Transpose", {{"perm", List{0, 0}}}, {two}},
      {"Transpose", {{"perm", List{0, 2}}}, {two}},
      {"Transpose", {{"perm", List{0}}}, {two}},
      {"Squeeze", {}, {two, ints({0})}},
      {"Unsqueeze", {}, {two, ints({0, 0})}},
      {"Unsqueeze", {}, {two, ints({kLowest})}},
      {"Flatten", {{"axis", int64_t{3}}}, {two}},
      {"Concat", {{"axis", int64_t{2}}}, {two, two}},
      {"Concat", {{"axis", int64_t{0}}}, {two, zeros({2, 2})}},
      {"Concat", {{"axis", int64_t{0}}}, {two, std::nullopt}},
      {"Concat", {}, {two, two}},
      {"Split", {{"axis", int64_t{1}}}, {two, ints({1, 1})}, 17, 2},
      {"Split", {{"axis", int64_t{1}}}, {two, ints({-1, 4})}, 17, 2},
      {"Split", {{"axis", int64_t{1}}}, {two, ints({kHuge, kHuge})}, 17, 2},
      {"Split", {{"axis", int64_t{1}}}, {two}, 17, 2},
      {"Slice", {}, {two, ints({0}), ints({1}), ints({0}), ints({0})}},
      {"Slice", {}, {two, ints({0}), ints({1}), ints({2}), ints({1})}},
      {"Slice", {}, {two, ints({0, 0}), ints({1})}},
      {"Pad", {}, {two, ints({kHuge, 0, 0, 0})}},
      {"Pad", {}, {two, ints({-2, 0, -1, 0})}},
      {"Pad", {}, {two, ints({1, 1})}},
      {"Pad", {{"mode", std::string("wrap")}}, {zeros({0, 3}), ints({1, 0, 0, 0})}},
      {"DepthToSpace", {{"blocksize", int64_t{0}}}, {zeros({1, 4, 2, 2})}},
      {"DepthToSpace", {{"blocksize", kHuge}}, {zeros({1, 4, 2, 2})}},
      {"SpaceToDepth", {{"blocksize", int64_t{3}}}, {zeros({1, 4, 2, 2})}},
      {"ConstantOfShape", {}, {ints({kHuge})}},
      {"ConstantOfShape", {}, {ints({-1})}},
      {"ConstantOfShape", {{"value", floats({1, 2})}}, {ints({1})}},
      {"Constant", {}, {}},
      {"Range", {}, {ints({0}), ints({kHuge}), ints({1})}},
      {"Range", {}, {ints({0}), ints({1}), ints({0})}},
      {"Range", {}, {floats({0}), floats({NAN}), floats({1})}},
      {"Range", {}, {floats({0}), floats({1}), floats({0})}},
  });
}

TEST(Operators, SliceTakesTheLargestNumbersThereAre) {
  const Tensor in = ints({1, 2, 3});
  const Single back = {"Slice", {}, {in, ints({kHuge}), ints({kLowest}), ints({0}), ints({-1})}};
  EXPECT_EQ(values_of<int64_t>(back.run()[0]), (List{3, 2, 1}));
  const Single far = {"Slice", {}, {in, ints({kLowest}), ints({kHuge}), ints({0}), ints({kHuge})}};
  EXPECT_EQ(values_of<int64_t>(far.run()[0]), (List{1}));
  const Single farther = {"Slice", {}, {in, ints({kHuge}), ints({kLowest}), ints({0}), ints({kLowest})}};
  EXPECT_EQ(values_of<int64_t>(farther.run()[0]), (List{3}));
}

TEST(Operators, RefuseIndicesOutOfRange) {
  const Tensor data = zeros({2, 3});
  const Tensor update = zeros({1, 3});
  const auto index = [](int64_t i) { return tensor<int64_t>({1, 1}, {i}); };
  expect_refused({
      {"Gather", {}, {data, ints({2})}},
      {"Gather", {}, {data, ints({-3})}},
      {"Gather", {}, {data, ints({kLowest})}},
      {"Gather", {{"axis", int64_t{2}}}, {data, ints({0})}},
      {"Gather", {}, {zeros({0, 3}), ints({0})}},
      {"Gather", {}, {data, floats({0})}},
      {"GatherElements", {}, {data, index(2)}},
      {"GatherElements", {}, {data, ints({0})}},
      {"GatherElements", {}, {data, tensor<int64_t>({1, 4}, {0, 0, 0, 0})}},
      {"GatherND", {}, {data, index(kHuge)}},
      {"GatherND", {}, {data, tensor<int64_t>({1, 3}, {0, 0, 0})}},
      {"GatherND", {{"batch_dims", int64_t{2}}}, {data, index(0)}},
      {"GatherND", {{"batch_dims", int64_t{-1}}}, {data, index(0)}},
      {"ScatterND", {}, {data, index(2), update}},
      {"ScatterND", {}, {data, index(0), zeros({1, 4})}},
      {"ScatterND", {{"reduction", std::string("sub")}}, {data, index(0), update}},
      {"ScatterElements", {}, {data, index(-3), zeros({1, 1})}},
      {"ScatterElements", {}, {data, index(0), zeros({1, 2})}},
      {"TopK", {}, {data, ints({4})}},
      {"TopK", {}, {data, ints({-1})}},
      {"CumSum", {}, {data, ints({2})}},
      {"ArgMax", {{"axis", int64_t{2}}}, {data}},
      {"ArgMax", {}, {zeros({0, 3})}},
      {"Trilu", {}, {zeros({3})}},
  });
}

TEST(Operators, RefuseWhatDoesNotFitTogether) {
  const Tensor two = zeros({2, 3});
  expect_refused({
      {"Add", {}, {two, zeros({2})}},
      {"Add", {}, {two, ints({1, 2, 3})}},
      {"And", {}, {two, two}},
      {"Mod", {}, {two, two}},
      {"PRelu", {}, {zeros({3}), two}},
      {"Where", {}, {two, two, two}},
      {"Clip", {}, {two, floats({1, 2})}},
      {"Cast", {{"to", int64_t{8}}}, {two}},
      {"Cast", {}, {two}},
      {"Gelu", {{"approximate", std::string("no")}}, {two}},
      {"MatMul", {}, {two, two}},
      {"MatMul", {}, {zeros({}), two}},
      {"Gemm", {}, {two, two}},
      {"Gemm", {{"transB", int64_t{1}}}, {two, two, zeros({3})}},
      {"Softmax", {{"axis", int64_t{2}}}, {two}},
      {"ReduceSum", {}, {two, ints({0, 0})}},
      {"ReduceSum", {}, {two, ints({2})}},
      {"BatchNormalization", {}, {two, zeros({2}), zeros({2}), zeros({2}), zeros({2})}},
      {"BatchNormalization",
       {{"training_mode", int64_t{1}}},
       {two, zeros({3}), zeros({3}), zeros({3}), zeros({3})}},
      {"LayerNormalization", {}, {two, zeros({2})}},
      {"InstanceNormalization", {}, {two, zeros({2}), zeros({2})}},
      {"GroupNormalization", {{"num_groups", int64_t{2}}}, {two, zeros({2}), zeros({2})}, 18},
      {"Dropout", {}, {two, floats({0.5F}), tensor<bool>({}, {true})}},
      {"Relu", {}, {two, two}},
      {"Relu", {}, {two}, 17, 2},
      {"Relu", {}, {std::nullopt}},
  });
}

TEST(Operators, RefuseSizesThatCannotBe) {
  const Tensor image = zeros({1, 1, 2, 2});
  const auto mode = [](const char* text) {
    return std::map<std::string, Attribute>{{"mode", std::string(text)}};
  };
  expect_refused({
      {"Resize", {}, {image}},
      {"Resize", {}, {image, std::nullopt, floats({1, 1, 2, 0})}},
      {"Resize", {}, {image, std::nullopt, floats({1, 1, 2, -1})}},
      {"Resize", {}, {image, std::nullopt, floats({1, 1, 2, NAN})}},
      {"Resize", {}, {image, std::nullopt, floats({1, 1, 2, INFINITY})}},
      {"Resize", {}, {image, std::nullopt, floats({1, 1, 2})}},
      {"Resize", {}, {image, std::nullopt, std::nullopt, ints({1, 1, kHuge, 1})}},
      {"Resize", {}, {image, std::nullopt, std::nullopt, ints({1, 1, -1, 1})}},
      {"Resize", {}, {zeros({0}), std::nullopt, std::nullopt, ints({1})}},
      {"Resize", {{"axes", List{2, 2}}}, {image, std::nullopt, std::nullopt, ints({1, 1})}, 18},
      {"Resize", mode("cubist"), {image, std::nullopt, floats({1, 1, 2, 2})}},
      {"Resize",
       {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}},
       {image, std::nullopt, floats({1, 1, 2, 2})}},
      {"Resize",
       {{"mode", std::string("linear")}, {"antialias", int64_t{1}}},
       {image, std::nullopt, floats({1, 1, 0.5F, 0.5F})},
       18},
  });
}

TEST(Operators, IntegersNeverTrap) {
  const Tensor a = ints({7, kLowest, kLowest, -7});
  const Tensor b = ints({0, -1, kHuge, 3});
  EXPECT_EQ(values_of<int64_t>(Single{"Div", {}, {a, b}}.run()[0]), (List{0, kLowest, -1, -2}));
  EXPECT_EQ(values_of<int64_t>(Single{"Mod", {}, {a, b}}.run()[0]), (List{0, 0, kHuge - 1, 2}));
  EXPECT_EQ(values_of<int64_t>(Single{"Mod", {{"fmod", int64_t{1}}}, {a, b}}.run()[0]), (List{0, 0, -1, -1}));
  EXPECT_EQ(values_of<int64_t>(Single{"Abs", {}, {a}}.run()[0])[1], kLowest);
  EXPECT_EQ(values_of<int64_t>(Single{"Add", {}, {ints({kHuge}), ints({1})}}.run()[0])[0], kLowest);
  EXPECT_EQ(values_of<int64_t>(Single{"Pow", {}, {ints({2, 2, -1}), ints({10, -1, -3})}}.run()[0]),
            (List{1024, 0, -1}));
  Single{"Pow", {}, {ints({kLowest}), ints({kHuge})}}.run();
  const Single cast = {"Cast", {{"to", int64_t{7}}}, {floats({NAN, INFINITY, -INFINITY, 1e30F, -2.5F})}};
  EXPECT_EQ(values_of<int64_t>(cast.run()[0]), (List{0, kHuge, kLowest, kHuge, -2}));
  const Single byte = {"Cast", {{"to", int64_t{2}}}, {ints({300, -1})}};
  EXPECT_EQ(values_of<int64_t>(byte.run()[0]), (List{44, 255}));
}

// Matrices are turned eight rows at a time: sizes around that, and more dimensions before them.
TEST(Operators, TransposesMatricesOfAnySize) {
  for (const int64_t rows : {1, 7, 8, 13, 16, 197}) {
    for (const int64_t columns : {1, 8, 9, 64}) {
      Tensor x = zeros({2, rows, columns});
      for (size_t i = 0; i < x.values<float>().size(); ++i) x.values<float>()[i] = static_cast<float>(i);
      const Tensor y = Single{"Transpose", {{"perm", std::vector<int64_t>{0, 2, 1}}}, {x}}.run()[0];
      ASSERT_EQ(y.dims(), (Dims{2, columns, rows}));
      for (int64_t m = 0; m < 2; ++m) {
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t c = 0; c < columns; ++c) {
            ASSERT_EQ(y.values<float>()[static_cast<size_t>((m * columns + c) * rows + r)],
                      static_cast<float>((m * rows + r) * columns + c))
                << rows << "x" << columns;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace hewn::flow
