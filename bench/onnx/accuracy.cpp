// Says how many samples of an ONNX network's largest outputs are the labels.
//   accuracy FILE INPUTS.npy LABELS.npy
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "hewn/core/error.h"
#include "hewn/flow/network.h"
#include "hewn/io/npy.h"
#include "hewn/onnx/import.h"
#include "hewn/refit/calibration.h"

namespace {

int run(char** argv) {
  hewn::flow::Network network(hewn::onnx::read_onnx(argv[1]));
  const auto labels = std::get<std::vector<int64_t>>(hewn::io::read_npy_array(argv[3]).values);
  size_t sample = 0;
  size_t right = 0;
  const hewn::flow::Graph& graph = network.graph();
  const auto images = hewn::refit::read_samples(graph.inputs.at(0), argv[2], 0);
  for (const auto& batch : hewn::refit::batches_of(graph, {images}, 0)) {
    const hewn::flow::Tensor out = network.run(batch)[0];
    const auto classes = static_cast<size_t>(out.dims().back());
    const auto values = out.values<float>();
    for (size_t first = 0; first < values.size(); first += classes, ++sample) {
      const auto row = values.subspan(first, classes);
      if (std::max_element(row.begin(), row.end()) - row.begin() == labels.at(sample)) ++right;
    }
  }
  std::printf("%.2f\n", 100.0 * static_cast<double>(right) / static_cast<double>(sample));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw hewn::Error("usage: accuracy FILE INPUTS.npy LABELS.npy");
    return run(argv);
  } catch (const std::exception& error) {
    std::cerr << "accuracy: " << error.what() << "\n";
    return 2;
  }
}
