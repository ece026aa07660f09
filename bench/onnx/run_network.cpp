// Times one ONNX file or model.hewn, and writes what comes out for an input that bench/onnx/run.mjs makes
// too.
//   run_network FILE BATCH [--threads N] [--seconds S] [--layers] [--out FILE]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "hewn/core/error.h"
#include "hewn/flow/network.h"
#include "hewn/onnx/open.h"

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

hewn::flow::Tensor input_for(const hewn::flow::Port& port, int64_t batch) {
  hewn::flow::Spec spec = port.spec;
  for (int64_t& dim : spec.dims) dim = dim < 0 ? batch : dim;
  hewn::flow::Tensor out(spec);
  if (spec.type != hewn::flow::Type::kFloat) return out;
  auto values = out.values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) * 0.37) +
                                   0.5 * std::sin(static_cast<double>(i) * 0.0113));
  return out;
}

double median(std::vector<double> list) {
  std::nth_element(list.begin(), list.begin() + static_cast<int64_t>(list.size() / 2), list.end());
  return list[list.size() / 2];
}

/// The median time of each step.
void show_layers(hewn::flow::Network& network, const std::vector<hewn::flow::Tensor>& inputs,
                 double seconds) {
  std::vector<hewn::flow::StepTime> steps = network.profile(inputs);
  std::vector<std::vector<double>> times(steps.size());
  const double begin = cpu_seconds();
  do {
    steps = network.profile(inputs);
    for (size_t i = 0; i < steps.size(); ++i) times[i].push_back(steps[i].seconds);
  } while (cpu_seconds() - begin < seconds);
  double total = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double typical = median(times[i]);
    total += typical;
    std::printf("%9.3f ms %8.1f G/s %s\n", 1e3 * typical, static_cast<double>(steps[i].work) / typical / 1e9,
                steps[i].what.c_str());
  }
  std::printf("%9.3f ms\n", 1e3 * total);
}

int run(int argc, char** argv) {
  const std::string file = argv[1];
  const int64_t batch = std::stoll(argv[2]);
  std::map<std::string, std::string> options = {{"--threads", "1"}, {"--seconds", "2"}};
  for (int i = 3; i < argc; ++i) {
    const std::string name = argv[i];
    options[name] = name == "--layers" ? "yes" : argv[++i];
  }
  hewn::flow::Network network = hewn::onnx::open_network(file);
  network.set_threads(std::stoi(options["--threads"]));
  std::vector<hewn::flow::Tensor> inputs;
  for (const auto& port : network.graph().inputs) inputs.push_back(input_for(port, batch));
  auto outputs = network.run(inputs);
  if (options.count("--layers") > 0) {
    show_layers(network, inputs, std::stod(options["--seconds"]));
    return 0;
  }
  std::vector<double> times;
  for (double total = 0; total < std::stod(options["--seconds"]) || times.size() < 5;) {
    const double begin = cpu_seconds();
    network.run(inputs, outputs);
    times.push_back(cpu_seconds() - begin);
    total += times.back();
  }
  std::printf("{\"ms\": %.4f, \"runs\": %zu}\n", 1e3 * median(times), times.size());
  if (options.count("--out") > 0) {
    std::ofstream out(options["--out"], std::ios::binary);
    out.write(reinterpret_cast<const char*>(outputs[0].bytes()),
              static_cast<std::streamsize>(outputs[0].byte_count()));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3)
      throw hewn::Error("usage: run_network FILE BATCH [--threads N] [--seconds S] [--layers] [--out FILE]");
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "run_network: " << error.what() << "\n";
    return 2;
  }
}
