// Does exchanging gradients hide behind the backward pass? Two processes with one thread each train an mlp. A
// step together is compared with what it costs at least: the same step without any exchange, and the exchange
// of the last bucket, which has nothing left to hide behind. Interleaved; medians over rounds.
#include <ATen/ATen.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/dist/gradients.h"
#include "hewn/nn/model.h"
#include "hewn/tensor/device.h"

namespace hewn::bench {
namespace {

constexpr int64_t kRanks = 2;
constexpr int kRounds = 25;

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// The network of one process and the ways to take a step with it.
struct Rank {
  std::shared_ptr<dist::Communicator> group;
  std::shared_ptr<nn::Model> model;
  std::vector<at::Tensor> leaves;
  std::unique_ptr<dist::GradientAverage> average;
  at::Tensor input;

  Rank(const dist::Place& place, const std::vector<int64_t>& widths, int64_t batch)
      : group(dist::join(place, {})), input(at::randn({batch / place.size, 784})) {
    tensor::set_threads(1);
    model = nn::find_model("mlp").make({{784}, 10}, {widths});
    leaves = model->parameters();
    average = std::make_unique<dist::GradientAverage>(leaves, std::vector<at::Tensor>{}, group);
  }

  void backward(bool exchange) {
    for (at::Tensor& leaf : leaves) leaf.mutable_grad() = at::Tensor();
    const at::Tensor loss = model->forward(input).square().mean();
    if (exchange) average->start();
    loss.backward();
    if (exchange) average->finish();
  }
  void backward_then_exchange() {
    backward(false);
    for (const at::Tensor& leaf : leaves) group->sum(leaf.grad());
  }
  /// All processes are here when it returns.
  void meet() const { group->sum(at::zeros({1})); }
};

std::map<std::string, std::vector<double>> measure(Rank& rank) {
  const at::Tensor last = at::zeros({rank.average->last_numbers()});
  const std::vector<std::pair<std::string, std::function<void()>>> ways = {
      {"alone", [&] { rank.backward(false); }},
      {"last bucket", [&] { rank.group->sum(last); }},
      {"together", [&] { rank.backward(true); }},
      {"one after the other", [&] { rank.backward_then_exchange(); }}};
  std::map<std::string, std::vector<double>> times;
  for (int round = -2; round < kRounds; ++round) {
    for (const auto& [name, work] : ways) {
      rank.meet();
      const double time = milliseconds(work);
      if (round >= 0) times[name].push_back(time);
    }
  }
  return times;
}

void report(const Rank& rank, const std::vector<int64_t>& widths, int64_t batch,
            const std::map<std::string, std::vector<double>>& times) {
  Json out = {{"widths", widths},
              {"batch", batch},
              {"buckets", rank.average->buckets()},
              {"last_bucket_mib", static_cast<double>(rank.average->last_numbers()) * 4 / (1 << 20)}};
  std::map<std::string, double> ms;
  for (const auto& [name, values] : times) out[name + " ms"] = ms[name] = median(values);
  const double least = ms["alone"] + ms["last bucket"];
  out["together over least"] = ms["together"] / least;
  std::printf("%s\n", out.dump().c_str());
}

int run() {
  const std::vector<std::pair<std::vector<int64_t>, int64_t>> cases = {
      {{1024, 1024}, 512}, {{2048, 2048, 2048}, 512}, {{2048, 2048, 2048}, 2048}};
  for (const auto& [widths, batch] : cases) {
    const int64_t port = dist::free_port();
    std::vector<pid_t> children;
    std::fflush(stdout);
    for (int64_t r = 0; r < kRanks; ++r) {
      const pid_t child = ::fork();
      if (child != 0) {
        children.push_back(child);
        continue;
      }
      dist::Place place;
      place.rank = place.local_rank = r;
      place.size = place.local_size = kRanks;
      place.port = port;
      Rank rank(place, widths, batch);
      const auto times = measure(rank);
      if (place.first()) report(rank, widths, batch, times);
      rank.meet();
      std::fflush(stdout);
      ::_exit(0);
    }
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      if (status != 0) throw Error("a process failed");
    }
  }
  return 0;
}

}  // namespace
}  // namespace hewn::bench

int main() {
  try {
    return hewn::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
