// What does a step of click-through prediction cost, and does it depend on the vocabulary? The paper's
// network (39 fields, 390-400-400-400-1), dense: a plain LibTorch loop (torch::nn::Embedding, Adam) and
// hewn's, for 10^5, 10^6 and 10^7 values in all fields together. Interleaved; medians of per-round ratios.
#include <ATen/ATen.h>
#include <malloc.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <cstdio>
#include <memory>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/random.h"
#include "hewn/measure/interleave.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/tensor/device.h"
#include "hewn/train/tasks/task.h"

namespace hewn::bench {
namespace {

constexpr int64_t kFields = 39;
constexpr int64_t kWidth = 10;
constexpr int64_t kBatches = 8;  // used in turn, so that rows do not stay in the cache
constexpr double kRate = 1e-3;

struct Batch {
  at::Tensor values;  // int32
  at::Tensor rows;    // int64, in one table for all fields
  at::Tensor target;
};

/// Values of a field follow Zipf's law nearly: the logarithm of their rank is uniform.
std::vector<Batch> draw_batches(int64_t vocabulary, int64_t size) {
  std::vector<Batch> out;
  for (int64_t b = 0; b < kBatches; ++b) {
    at::Tensor values = at::empty({size, kFields}, at::kInt);
    at::Tensor target = at::empty({size});
    for (int64_t i = 0; i < values.numel(); ++i) {
      const auto words = draw(1, Stream::kPattern, static_cast<uint64_t>(b), static_cast<uint64_t>(i));
      const double rank = std::pow(static_cast<double>(vocabulary), unit(words[0])) - 1;
      values.data_ptr<int32_t>()[i] = static_cast<int32_t>(rank);
      if (i < size) target.data_ptr<float>()[i] = unit(words[1]) < 0.25 ? 1.0F : 0.0F;
    }
    const at::Tensor first = at::arange(kFields, at::kLong) * vocabulary;
    out.push_back({values, values.to(at::kLong) + first, target});
  }
  return out;
}

/// The network as a LibTorch user writes it.
struct Plain {
  torch::nn::Embedding embedding;
  std::vector<torch::nn::Linear> layers = {torch::nn::Linear(390, 400), torch::nn::Linear(400, 400),
                                           torch::nn::Linear(400, 400), torch::nn::Linear(400, 1)};
  std::unique_ptr<torch::optim::Adam> adam;
  int64_t turn = 0;

  explicit Plain(int64_t rows) : embedding(torch::nn::EmbeddingOptions(rows, kWidth)) {
    std::vector<at::Tensor> parameters = embedding->parameters();
    for (auto& layer : layers) {
      for (const at::Tensor& parameter : layer->parameters()) parameters.push_back(parameter);
    }
    adam = std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(kRate));
  }

  void train(const std::vector<Batch>& batches) {
    const Batch& batch = batches[static_cast<size_t>(turn++ % kBatches)];
    at::Tensor x = embedding->forward(batch.rows).flatten(1);
    for (size_t i = 0; i < 3; ++i) x = layers[i]->forward(x).relu();
    x = layers[3]->forward(x).squeeze(1);
    const at::Tensor loss = at::binary_cross_entropy_with_logits(x, batch.target);
    adam->zero_grad();
    loss.backward();
    adam->step();
  }
};

struct Ours {
  std::shared_ptr<nn::Model> model;
  std::shared_ptr<const train::Task> task = train::make_task(data::Kind::kClicks, 0);
  std::unique_ptr<Optimiser> optimiser;
  int64_t turn = 0;

  explicit Ours(int64_t vocabulary) {
    nn::Signature signature = nn::find_model("ctr-dnn").usual;
    signature.vocabularies.assign(kFields, vocabulary);
    model = nn::find_model("ctr-dnn").make(signature, {{400, 400, 400}, 64, kWidth});
    std::vector<Parameter> parameters;
    for (const auto& item : model->named_parameters()) parameters.push_back({item.key(), item.value()});
    optimiser = std::make_unique<Optimiser>(parameters, OptimiserOptions{.kind = "adam"});
  }

  void train(const std::vector<Batch>& batches) {
    const Batch& batch = batches[static_cast<size_t>(turn++ % kBatches)];
    const at::Tensor loss = task->loss(model->forward(batch.values), batch.target);
    optimiser->zero_grad();
    loss.backward();
    optimiser->step(kRate);
  }
};

Json compare(int64_t batch_size, int64_t threads) {
  const int64_t used = tensor::set_threads(threads);
  std::vector<std::vector<Batch>> batches;
  std::vector<std::unique_ptr<Ours>> ours;
  std::vector<std::unique_ptr<Plain>> plain;
  std::vector<measure::Contender> contenders;
  const std::vector<int64_t> totals = {100'000, 1'000'000, 10'000'000};
  for (const int64_t total : totals) batches.push_back(draw_batches(total / kFields, batch_size));
  for (size_t i = 0; i < totals.size(); ++i) {
    ours.push_back(std::make_unique<Ours>(totals[i] / kFields));
    plain.push_back(std::make_unique<Plain>(totals[i] / kFields * kFields));
    contenders.push_back({hewn::str("hewn ", totals[i]), [&, i] { ours[i]->train(batches[i]); }});
    contenders.push_back({hewn::str("LibTorch ", totals[i]), [&, i] { plain[i]->train(batches[i]); }});
  }
  const measure::Clock clock = measure::clock_for(used);
  const auto timings = measure::interleave(contenders, {11, clock, 0});
  std::printf("\nbatch %ld, %ld thread%s (%s)\n", static_cast<long>(batch_size), static_cast<long>(used),
              used == 1 ? "" : "s", measure::to_string(clock).c_str());
  Json rows = Json::array();
  for (size_t i = 0; i < timings.size(); ++i) {
    const double rate = static_cast<double>(batch_size) / timings[i].median_ms() * 1e3;
    const measure::Spread to_plain = measure::ratio(timings[i | 1], timings[i]);
    const measure::Spread to_small = measure::ratio(timings[i], timings[i % 2]);
    std::printf("  %-20s %8.1f ms  %8.0f rows/s   %5.2f x as fast as LibTorch   %5.3f x the time of 10^5\n",
                timings[i].name.c_str(), timings[i].median_ms(), rate, to_plain.median, to_small.median);
    rows.push_back({{"name", timings[i].name},
                    {"ms", timings[i].median_ms()},
                    {"rows_per_second", rate},
                    {"speed_over_libtorch", to_plain.median},
                    {"time_over_smallest_vocabulary", to_small.median}});
  }
  return {{"batch", batch_size}, {"threads", used}, {"rows", rows}};
}

}  // namespace
}  // namespace hewn::bench

int main() {
  // As the hewn program does: the same allocator for all contenders.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  hewn::Json all = hewn::Json::array();
  for (const int64_t batch : {4096, 32768}) all.push_back(hewn::bench::compare(batch, 0));
  std::printf("\n%s\n", all.dump().c_str());
}
