// How much faster are networks in 8 bits and in bf16 than in 32? All in one run, interleaved, on one thread,
// by its CPU time; medians of rounds, and of the ratios in a round.
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
#include "hewn/flow/bf16/halve.h"
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

/// A network in fewer bits, and what became of it.
struct Narrow {
  const char* name;
  flow::Network network;
  std::vector<flow::Tensor> out;
  std::vector<double> times;
  std::vector<double> gains;  // over 32 bits in the same round
  bool same = false;          // on two threads
};

Narrow narrow(const char* name, flow::Graph graph, const std::vector<flow::Tensor>& input) {
  Narrow out{name, flow::Network(std::move(graph)), {}, {}, {}};
  out.network.set_threads(2);
  const std::vector<flow::Tensor> two = out.network.run(input);
  out.network.set_threads(1);
  out.network.run(input, out.out);
  out.same = std::memcmp(two[0].bytes(), out.out[0].bytes(), two[0].byte_count()) == 0;
  return out;
}

double timed(flow::Network& network, const std::vector<flow::Tensor>& input, std::vector<flow::Tensor>& out,
             int repeats) {
  const double start = cpu_seconds();
  for (int i = 0; i < repeats; ++i) network.run(input, out);
  return (cpu_seconds() - start) / repeats;
}

void compare(const std::string& name, double density, int64_t batch, int rounds, bool layers) {
  const flow::Graph graph = bench::network_named(name, density);
  flow::Graph bytes = graph;
  flow::quantise(bytes, {{bench::inputs_for(graph, 2, 1)}}, {.percentile = 100, .keep = {}});
  flow::Graph halves = graph;
  flow::to_bf16(halves, {});
  flow::Network fp32(graph);
  const std::vector<flow::Tensor> input = {bench::inputs_for(graph, batch, 2)};
  std::vector<flow::Tensor> fp32_out = fp32.run(input);
  std::vector<Narrow> all;
  all.push_back(narrow("int8", bytes, input));
  all.push_back(narrow("bf16", halves, input));
  // Several runs make one time where they are short.
  const double once = timed(fp32, input, fp32_out, 1);
  const int repeats = std::max(1, static_cast<int>(0.003 / std::max(once, 1e-7)));
  std::vector<double> slow;
  for (int round = 0; round < rounds; ++round) {
    slow.push_back(timed(fp32, input, fp32_out, repeats));
    for (Narrow& one : all) {
      one.times.push_back(timed(one.network, input, one.out, repeats));
      one.gains.push_back(slow.back() / one.times.back());
    }
  }
  for (const Narrow& one : all) {
    std::printf(
        "%-9s density %.2f batch %3ld: fp32 %9.4f ms, %s %9.4f ms, %.2fx; error %.2f %%; two threads %s\n",
        name.c_str(), density, static_cast<long>(batch), 1e3 * median(slow), one.name,
        1e3 * median(one.times), median(one.gains), 100 * relative_error(one.out[0], fp32_out[0]),
        one.same ? "give the same bits" : "DIFFER");
  }
  std::fflush(stdout);
  if (!layers) return;
  print_layers(fp32, input);
  for (Narrow& one : all) print_layers(one.network, input);
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
  std::printf("fp32: %s, int8: %s, bf16: %s\n", kernels::machine().name, kernels::byte_machine().name,
              flow::bf16_machine().empty() ? "as fp32" : flow::bf16_machine().c_str());
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
