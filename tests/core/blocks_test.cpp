#include "hewn/core/blocks.h"

#include <gtest/gtest.h>

#include "hewn/core/error.h"
#include "tests/support/message.h"

namespace hewn {
namespace {

const Grid kGrid{7, 5, {3, 2}};

GridOf no_grids() {
  return [](const std::string& layer, const BlockShape&) -> Grid { throw Error("no layer " + layer); };
}

TEST(Blocks, EveryFormSaysTheSame) {
  const LayerBlocks blocks(kGrid, {8, 0, 5});
  EXPECT_EQ(blocks.indices(), (std::vector<int64_t>{0, 5, 8}));
  EXPECT_EQ(blocks.flags(), (std::vector<uint8_t>{1, 0, 0, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(blocks.bits(), (std::vector<uint8_t>{0x21, 0x01}));
  EXPECT_EQ(blocks.elements(), 6 + 3 + 1);
  EXPECT_EQ(LayerBlocks::of_flags(kGrid, blocks.flags()), blocks);
  EXPECT_EQ(LayerBlocks::of_bits(kGrid, blocks.bits()), blocks);
  EXPECT_EQ(LayerBlocks::all_of(kGrid).kept(), 9);
  EXPECT_DOUBLE_EQ(blocks.density(), 3.0 / 9);
}

TEST(Blocks, TextAndBack) {
  const Blocks blocks = {{"a.b", {kGrid, {1, 2}}}, {"c", {{4, 6, {2, 2}, 2}, {}}}};
  EXPECT_EQ(parse_blocks(to_text(blocks), "file", no_grids()), blocks);
}

TEST(Blocks, ReadsWhatVersion01Wrote) {
  const std::string text = R"({"block":[3,2],"sparsity":0.5,"kept":{"fc1":[0,5]}})";
  const Blocks blocks = parse_blocks(text, "file", [](const std::string& layer, const BlockShape& block) {
    EXPECT_EQ(layer, "fc1");
    return Grid{7, 5, block};
  });
  EXPECT_EQ(blocks, (Blocks{{"fc1", {kGrid, {0, 5}}}}));
  EXPECT_NE(test::message_of([&] { parse_blocks(text, "file", no_grids()); }).find("file: "),
            std::string::npos);
}

TEST(Blocks, WhatIsNoneIsRefused) {
  EXPECT_THROW(LayerBlocks(kGrid, {9}), Error);
  EXPECT_THROW(LayerBlocks(kGrid, {-1}), Error);
  EXPECT_THROW(LayerBlocks(kGrid, {3, 3}), Error);
  EXPECT_THROW(LayerBlocks::of_flags(kGrid, std::vector<uint8_t>(8)), Error);
  EXPECT_THROW(LayerBlocks::of_bits(kGrid, std::vector<uint8_t>(1)), Error);
  for (const char* text : {"", "[]", "{}", R"({"layers":3})", R"({"layers":{"a":{}}})",
                           R"({"layers":{"a":{"shape":[7],"block":[3,2],"kept":[]}}})",
                           R"({"layers":{"a":{"shape":[7,5],"block":[0,2],"kept":[]}}})",
                           R"({"layers":{"a":{"shape":[7,5],"block":[9223372036854775807,2],"kept":[]}}})",
                           R"({"layers":{"a":{"shape":[7,5],"block":[3,2],"groups":2,"kept":[]}}})",
                           R"({"layers":{"a":{"shape":[7,5],"block":[3,2],"kept":[99]}}})",
                           R"({"layers":{"a":{"shape":[7,5],"block":[3,2],"kept":["x"]}}})",
                           R"({"layers":{"a":{"shape":[9223372036854775807,5],"block":[3,2],"kept":[]}}})"}) {
    EXPECT_THROW(parse_blocks(text, "file", no_grids()), FormatError) << text;
  }
}

}  // namespace
}  // namespace hewn
