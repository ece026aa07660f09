#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/io/npy.h"

namespace hewn::refit {

/// Inputs of a graph in batches: one tensor for each of its inputs, in its order.
using Batches = std::vector<std::vector<flow::Tensor>>;

/// Samples for one input of a graph.
struct Samples {
  std::string where;   // what errors call them
  io::NpyArray array;  // the first dimension counts samples
};

/// The input that "name=path" or, where there is but one, "path" is for: its number, and the path. Throws
/// Error that has the names.
std::pair<size_t, std::string> calibration_path(const flow::Graph& graph, const std::string& text);

/// Reads an NPY file, or a folder of them in the order of their names, each with samples or one sample. Of a
/// folder no more files are read than `samples` (0: all) need. Throws FormatError.
Samples read_samples(const flow::Port& port, const std::filesystem::path& path, int64_t samples);

/// `samples` has an entry for each input of the graph, in its order, of which the first `count` samples are
/// used (0: all). Batches have `most` samples, or as many as the graph asks for. Throws FormatError, naming
/// the file and the shape that was expected.
Batches batches_of(const flow::Graph& graph, const std::vector<Samples>& samples, int64_t count,
                   int64_t most = 32);

/// What an input takes, in words: "float of shape (?, 3, 224, 224)".
std::string expected_text(const flow::Port& port);

}  // namespace hewn::refit
