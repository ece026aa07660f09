// How near single convolutions come to what the machine can do: multiply-adds a second of one thread, by its
// CPU time, at several densities, and the share of the ideal speed-up over the same layer at density 1.
//   conv_layers [--batches 1,8] [--densities 1,0.2,0.1] [--blocks 16] [--seconds 0.1] [--layer NAME]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/random.h"
#include "hewn/flow/composer.h"
#include "hewn/flow/network.h"
#include "hewn/kernels/tile.h"

namespace {

using hewn::flow::Network;
using hewn::flow::Tensor;
using hewn::flow::Type;

struct Layer {
  const char* name;
  int64_t channels, outputs, size, kernel;
};
// ResNet-50's, by their place in it.
constexpr Layer kLayers[] = {{"1x1-56-reduce", 256, 64, 56, 1},   {"1x1-56-expand", 64, 256, 56, 1},
                             {"1x1-28-reduce", 512, 128, 28, 1},  {"1x1-28-expand", 128, 512, 28, 1},
                             {"1x1-14-reduce", 1024, 256, 14, 1}, {"1x1-14-expand", 256, 1024, 14, 1},
                             {"1x1-7-reduce", 2048, 512, 7, 1},   {"1x1-7-expand", 512, 2048, 7, 1},
                             {"3x3-56", 64, 64, 56, 3},           {"3x3-28", 128, 128, 28, 3},
                             {"3x3-14", 256, 256, 14, 3},         {"3x3-7", 512, 512, 7, 3}};

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Tensor noise(hewn::flow::Dims dims, uint64_t seed) {
  Tensor out(hewn::flow::Spec{Type::kFloat, std::move(dims)});
  auto values = out.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(hewn::unit(hewn::draw(seed, hewn::Stream::kInit, 0, i)[0]) - 0.5);
  return out;
}

/// A weight of which this share of the blocks is kept, in each column of blocks as many as fit.
Tensor weight_of(const Layer& layer, int64_t block, double density) {
  const int64_t taps = layer.kernel * layer.kernel;
  Tensor out = noise({layer.outputs, layer.channels, layer.kernel, layer.kernel}, 1);
  if (density >= 1) return out;
  auto values = out.values<float>();
  for (int64_t j = 0; j < layer.outputs; ++j) {
    for (int64_t c = 0; c < layer.channels; ++c) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const auto of_block =
            static_cast<uint64_t>((tap * layer.channels + c) / block * layer.outputs + j / block);
        const bool kept = hewn::unit(hewn::draw(2, hewn::Stream::kPattern, 0, of_block)[0]) < density;
        if (!kept) values[static_cast<size_t>((j * layer.channels + c) * taps + tap)] = 0;
      }
    }
  }
  return out;
}

Network network_of(const Layer& layer, int64_t block, double density) {
  hewn::flow::Composer composer;
  const auto port = [&](int64_t channels) {
    return hewn::flow::Spec{Type::kFloat, {-1, channels, layer.size, layer.size}};
  };
  const int32_t x = composer.input("x", port(layer.channels));
  const int32_t w = composer.constant("w", weight_of(layer, block, density));
  const int32_t b = composer.constant("b", noise({layer.outputs}, 3));
  const int64_t pad = layer.kernel / 2;
  const int32_t y =
      composer.node("Conv", "conv", {x, w, b}, {{"pads", std::vector<int64_t>{pad, pad, pad, pad}}});
  return Network(composer.finish(composer.node("Relu", "relu", {y}), "y", port(layer.outputs)), block);
}

/// The convolution's own step, without bringing its input into planes and its output out of them.
struct Sample {
  double seconds = 0;
  int64_t work = 0;
};
Sample once(Network& network, const std::vector<Tensor>& inputs) {
  for (const auto& step : network.profile(inputs)) {
    if (step.what.starts_with("Conv")) return {step.seconds, step.work};
  }
  throw hewn::Error("no step of the convolution");
}

double median(std::vector<double> list) {
  std::sort(list.begin(), list.end());
  return list[list.size() / 2];
}

/// The tile loop on numbers that stay in the L1 cache: what cannot be beaten.
double peak() {
  const auto& machine = hewn::kernels::machine();
  const int64_t rows = 64;
  const std::vector<float> in(static_cast<size_t>(rows * machine.panel_width), 1.0F);
  const std::vector<float> weight(static_cast<size_t>(rows * machine.tile_outputs), 1.0F);
  std::vector<float> out(static_cast<size_t>(machine.tile_outputs * machine.panel_width));
  const hewn::kernels::Run run{0, static_cast<int32_t>(rows)};
  hewn::kernels::TileArguments t;
  t.in = in.data();
  t.in_stride = t.out_stride = t.columns = machine.panel_width;
  t.runs = &run;
  t.run_count = 1;
  t.weight = weight.data();
  t.weight_stride = t.outputs = machine.tile_outputs;
  t.out = out.data();
  std::vector<double> rates;
  for (int round = 0; round < 40; ++round) {
    const double begin = thread_seconds();
    for (int i = 0; i < 2000; ++i) machine.tile(t);
    rates.push_back(2000.0 * static_cast<double>(rows * t.outputs * t.columns) / (thread_seconds() - begin));
  }
  return median(rates);
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  std::stringstream stream(text);
  for (std::string item; std::getline(stream, item, ',');) out.push_back(std::stod(item));
  return out;
}

void run(std::map<std::string, std::string>& options) {
  std::printf("%s: %.1f G/s in the L1 cache\n", hewn::kernels::machine().name, peak() / 1e9);
  std::printf("%-14s %5s %5s %7s %9s %8s %8s\n", "layer", "batch", "block", "density", "ms", "G/s",
              "of ideal");
  for (const Layer& layer : kLayers) {
    if (!options["--layer"].empty() && options["--layer"] != layer.name) continue;
    for (const double batch : numbers(options["--batches"])) {
      const std::vector<Tensor> inputs = {
          noise({static_cast<int64_t>(batch), layer.channels, layer.size, layer.size}, 4)};
      for (const double block : numbers(options["--blocks"])) {
        Network dense = network_of(layer, static_cast<int64_t>(block), 1);
        for (const double density : numbers(options["--densities"])) {
          Network sparse = network_of(layer, static_cast<int64_t>(block), density);
          std::vector<double> times;
          std::vector<double> dense_times;
          Sample sample;
          for (double total = 0; total < std::stod(options["--seconds"]) || times.size() < 7;
               total += sample.seconds) {
            dense_times.push_back(once(dense, inputs).seconds);
            sample = once(sparse, inputs);
            times.push_back(sample.seconds);
          }
          const Sample whole = once(dense, inputs);
          const double ideal = static_cast<double>(whole.work) / static_cast<double>(sample.work);
          std::printf("%-14s %5.0f %5.0f %7.2f %9.3f %8.1f %7.0f%%\n", layer.name, batch, block, density,
                      1e3 * median(times), static_cast<double>(sample.work) / median(times) / 1e9,
                      100 * median(dense_times) / median(times) / ideal);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options = {{"--batches", "1,8"},
                                                {"--densities", "1,0.2,0.1"},
                                                {"--blocks", "16"},
                                                {"--seconds", "0.1"},
                                                {"--layer", ""}};
  try {
    for (int i = 1; i < argc; i += 2) {
      if (i + 1 == argc || !options.contains(argv[i]))
        throw hewn::Error(std::string("unknown option ") + argv[i]);
      options[argv[i]] = argv[i + 1];
    }
    run(options);
  } catch (const std::exception& error) {
    std::cerr << "conv_layers: " << error.what() << "\n";
    return 2;
  }
}
