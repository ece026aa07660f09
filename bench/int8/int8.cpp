// How much faster are networks in 8 bits than in 32? Both in one run, interleaved, on one thread, by its CPU
// time; medians of rounds.
//
// usage: bench_int8 [--networks mlp,resnet50] [--batches 1,32] [--densities 0.1,1] [--rounds N] [--layers]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>

#include "bench/int8/networks.h"
#include "hewn/core/error.h"
#include "hewn/flow/int8/quantise.h"
#include "hewn/flow/network.h"
#include "hewn/kernels/int8/byte_tile.h"
#include "hewn/kernels/tile.h"

namespace {

using namespace hewn;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

double relative_error(const flow::Tensor& got, const flow::Tensor& expected) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < got.values<float>().size(); ++i) {
    error += std::pow(double{got.values<float>()[i]} - expected.values<float>()[i], 2);
    norm += std::pow(double{expected.values<float>()[i]}, 2);
  }
  return std::sqrt(error / norm);
}

void print_layers(flow::Network& network, const std::vector<flow::Tensor>& input) {
  network.profile(input);
  for (const flow::StepTime& step : network.profile(input)) {
    std::printf("  %8.3f ms  %s\n", 1e3 * step.seconds, step.what.c_str());
  }
}

void compare(const std::string& name, double density, int64_t batch, int rounds, bool layers) {
  const flow::Graph graph = bench::network_named(name, density);
  flow::Graph bytes = graph;
  flow::quantise(bytes, {{bench::inputs_for(graph, 2, 1)}}, {.percentile = 100, .keep = {}});
  flow::Network fp32(graph);
  flow::Network int8(bytes);
  const std::vector<flow::Tensor> input = {bench::inputs_for(graph, batch, 2)};
  std::vector<flow::Tensor> fp32_out = fp32.run(input);
  std::vector<flow::Tensor> int8_out = int8.run(input);
  int8.set_threads(2);
  const std::vector<flow::Tensor> two = int8.run(input);
  int8.set_threads(1);
  int8.run(input, int8_out);
  const bool same = std::memcmp(two[0].bytes(), int8_out[0].bytes(), two[0].byte_count()) == 0;
  // Several runs make one time where they are short.
  const double begin = cpu_seconds();
  fp32.run(input, fp32_out);
  const int repeats = std::max(1, static_cast<int>(0.003 / std::max(cpu_seconds() - begin, 1e-7)));
  std::vector<double> slow;
  std::vector<double> fast;
  for (int round = 0; round < rounds; ++round) {
    const double start = cpu_seconds();
    for (int i = 0; i < repeats; ++i) fp32.run(input, fp32_out);
    const double middle = cpu_seconds();
    for (int i = 0; i < repeats; ++i) int8.run(input, int8_out);
    slow.push_back((middle - start) / repeats);
    fast.push_back((cpu_seconds() - middle) / repeats);
  }
  std::printf(
      "%-9s density %.2f batch %3ld: fp32 %9.4f ms, int8 %9.4f ms, %.2fx; error %.2f %%; two threads %s\n",
      name.c_str(), density, static_cast<long>(batch), 1e3 * median(slow), 1e3 * median(fast),
      median(slow) / median(fast), 100 * relative_error(int8_out[0], fp32_out[0]),
      same ? "give the same bits" : "DIFFER");
  std::fflush(stdout);
  if (!layers) return;
  print_layers(fp32, input);
  print_layers(int8, input);
}

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string, std::string> options = {
      {"--networks", "mlp,resnet50"}, {"--batches", "1,32"}, {"--densities", "0.1"}, {"--rounds", "9"}};
  bool layers = false;
  for (int i = 1; i < count; ++i) {
    if (std::string(arguments[i]) == "--layers") {
      layers = true;
    } else if (i + 1 < count) {
      options[arguments[i]] = arguments[i + 1];
      ++i;
    }
  }
  std::printf("fp32: %s, int8: %s\n", kernels::machine().name, kernels::byte_machine().name);
  try {
    for (const std::string& name : words_of(options["--networks"])) {
      for (const std::string& density : words_of(options["--densities"])) {
        for (const std::string& batch : words_of(options["--batches"])) {
          compare(name, std::stod(density), std::stoll(batch), std::stoi(options["--rounds"]), layers);
        }
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
