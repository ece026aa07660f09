#include "hewn/kernels/tile.h"

#include <gtest/gtest.h>

#include "hewn/kernels/packed.h"
#include "hewn/kernels/reference/tile.h"
#include "tests/support/numbers.h"

namespace hewn::kernels {
namespace {

TEST(Tile, EveryInstructionSetEqualsTheReference) {
  const std::vector<float> in = numbers(200 * 64, 1);
  const std::vector<float> weight = numbers(100 * 16, 2);
  const std::vector<float> start = numbers(kMaxOutputs * 64, 3);
  const std::vector<float> bias = numbers(kMaxOutputs, 4);
  const std::vector<float> add = numbers(kMaxOutputs * 64, 5);
  const std::vector<std::vector<kernels::Run>> run_lists = {{}, {{0, 1}}, {{7, 16}, {100, 5}, {3, 20}}};
  for (int i = 0; i < machine_count(); ++i) {
    const Machine& machine = machine_at(i);
    for (int64_t outputs = 1; outputs <= machine.tile_outputs; ++outputs) {
      for (int64_t columns = kColumnStep; columns <= machine.strip_width; columns += kColumnStep) {
        for (size_t runs = 0; runs < run_lists.size(); ++runs) {
          for (int options = 0; options < 16; ++options) {
            SCOPED_TRACE(testing::Message() << machine.name << " outputs " << outputs << " columns "
                                            << columns << " runs " << runs << " options " << options);
            TileArguments t;
            t.in = in.data();
            t.in_stride = 64;
            t.runs = run_lists[runs].data();
            t.run_count = static_cast<int64_t>(run_lists[runs].size());
            t.weight = weight.data();
            t.weight_stride = outputs + options % 3;
            t.outputs = outputs;
            t.columns = columns;
            t.out_stride = 64;
            t.accumulate = (options & 1) != 0;
            t.relu = (options & 2) != 0;
            t.bias = (options & 4) != 0 ? bias.data() : nullptr;
            t.add = (options & 8) != 0 ? add.data() : nullptr;
            std::vector<float> got = start;
            std::vector<float> expected = start;
            t.out = got.data();
            machine.tile(t);
            t.out = expected.data();
            reference::tile(t);
            ASSERT_LT(largest_difference(got, expected), 1e-6);

            t.columns = 1;
            t.in_stride = t.out_stride = 1;
            t.weight_stride = outputs;
            got = expected = start;
            t.out = got.data();
            machine.tile_of_one(t);
            t.out = expected.data();
            reference::tile(t);
            ASSERT_LT(largest_difference(got, expected), 1e-6);
          }
        }
      }
    }
  }
}

TEST(Tile, TurnsEightSamplesRoundAndBack) {
  const std::vector<float> samples = numbers(8 * 100, 1);
  for (int i = 0; i < machine_count(); ++i) {
    for (const int64_t features : {1, 7, 8, 9, 16, 50}) {
      SCOPED_TRACE(testing::Message() << machine_at(i).name << " features " << features);
      std::vector<float> rows(static_cast<size_t>(features * 12), 7.0F), expected_rows = rows;
      machine_at(i).pack_eight(samples.data(), 100, rows.data(), 12, features);
      reference::pack_eight(samples.data(), 100, expected_rows.data(), 12, features);
      ASSERT_EQ(rows, expected_rows);
      std::vector<float> back(samples.size(), 7.0F), expected_back = back;
      machine_at(i).unpack_eight(rows.data(), 12, back.data(), 100, features);
      reference::unpack_eight(rows.data(), 12, expected_back.data(), 100, features);
      ASSERT_EQ(back, expected_back);
      for (int64_t n = 0; n < 8; ++n)
        ASSERT_TRUE(std::equal(&back[static_cast<size_t>(n * 100)],
                               &back[static_cast<size_t>(n * 100 + features)],
                               &samples[static_cast<size_t>(n * 100)]));
    }
  }
}

TEST(Tile, GathersRowsSideBySide) {
  const std::vector<float> in = numbers(2000, 6);
  const std::vector<int32_t> rows = {700, 0, 3, 3, 1900, 41, 1000, 7, 8, 9, 10, 1};
  for (int i = 0; i < machine_count(); ++i) {
    const Machine& machine = machine_at(i);
    for (int64_t columns = kColumnStep; columns <= machine.strip_width; columns += kColumnStep) {
      std::vector<float> panel(rows.size() * static_cast<size_t>(machine.strip_width), 5.0F);
      machine.gather(in.data(), rows.data(), static_cast<int64_t>(rows.size()), columns, panel.data());
      for (size_t at = 0; at < panel.size(); ++at) {
        const size_t row = at / static_cast<size_t>(machine.strip_width);
        const size_t column = at % static_cast<size_t>(machine.strip_width);
        const bool inside = column < static_cast<size_t>(columns);
        ASSERT_EQ(panel[at], inside ? in[static_cast<size_t>(rows[row]) + column] : 5.0F)
            << machine.name << " " << columns << " " << at;
      }
    }
  }
}

TEST(Tile, TheFastestInstructionSetIsTheFirst) {
  EXPECT_EQ(machine().name, machine_at(0).name);
  for (int i = 1; i < machine_count(); ++i) EXPECT_LE(machine_at(i).panel_width, machine().panel_width);
  for (int i = 0; i < machine_count(); ++i) EXPECT_EQ(machine_at(i).panel_width % kColumnStep, 0);
}

}  // namespace
}  // namespace hewn::kernels
