// How many rows per minute does one core make of the synthetic click log? Batches of the data source, the row
// kernel alone and its plain reference, interleaved; CPU time of the thread. And how long does opening take?
#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "hewn/core/json.h"
#include "hewn/data/source.h"
#include "hewn/data/synthetic/click_world.h"
#include "hewn/data/synthetic/reference/click_rows.h"
#include "hewn/measure/interleave.h"

namespace hewn::bench {
namespace {

constexpr int64_t kBatch = 8192;

double opening_ms() {
  const auto start = std::chrono::steady_clock::now();
  data::open_source("synthetic-ctr", {});
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Json rows_per_minute() {
  data::DataOptions options;
  options.batch = kBatch;
  const auto source = data::open_source("synthetic-ctr", options);
  const data::ClickWorld world(0);
  const data::ClickTruth truth = world.truth();
  const data::ClickStream stream = data::ClickWorld::training(0, 0);
  std::vector<int32_t> input(kBatch * data::kClickFields);
  std::vector<float> target(kBatch);
  std::vector<double> probability(kBatch);
  int64_t number = 0;
  const std::vector<measure::Contender> contenders = {
      {"batches of the source", [&] { source->train_batch(0, number++ % source->train_batches()); }},
      {"row kernel alone",
       [&] {
         data::click_rows(truth, stream, number++ * kBatch, kBatch, input.data(), target.data(), nullptr);
       }},
      {"plain reference", [&] {
         data::reference::click_rows(truth, stream, number++ * kBatch, kBatch, input.data(), target.data(),
                                     probability.data());
       }}};
  Json rows = Json::array();
  for (const measure::Timing& t : measure::interleave(contenders, {60, measure::Clock::kThreadCpu, 0})) {
    const measure::Spread ms = measure::spread_of(t.round_ms);
    const auto millions = [](double batch_ms) { return static_cast<double>(kBatch) / batch_ms * 60e3 / 1e6; };
    rows.push_back({{"name", t.name},
                    {"ms", ms.median},
                    {"million_rows_per_minute_per_core", millions(ms.median)},
                    {"quartiles", {millions(ms.high), millions(ms.low)}}});
  }
  return rows;
}

}  // namespace
}  // namespace hewn::bench

int main() {
  at::set_num_threads(1);
  hewn::bench::opening_ms();  // what is slow only once
  const hewn::Json out = {{"batch", hewn::bench::kBatch},
                          {"threads", 1},
                          {"opening_ms", hewn::bench::opening_ms()},
                          {"rows", hewn::bench::rows_per_minute()}};
  std::printf("%s\n", out.dump(2).c_str());
}
