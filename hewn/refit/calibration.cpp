#include "hewn/refit/calibration.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/npy.h"

namespace hewn::refit {
namespace {

struct Source {
  std::string file;
  io::NpyArray array;
};

std::string shape_text(const flow::Dims& dims) {
  std::vector<std::string> words;
  for (const int64_t dim : dims) words.push_back(dim < 0 ? "?" : std::to_string(dim));
  return "(" + join(words) + ")";
}

std::string expected_text(const flow::Port& port) {
  flow::Dims dims = port.spec.dims;
  if (!dims.empty()) dims[0] = -1;
  return str(flow::name_of(port.spec.type), " of shape ", shape_text(dims));
}

/// Which input a file is for, and the file: "name=x.npy" or "x.npy".
std::pair<int32_t, std::string> settle(const flow::Graph& graph, const std::string& text) {
  std::vector<std::string> names;
  for (const flow::Port& port : graph.inputs) names.push_back(graph.name(port.value));
  const size_t equals = text.find('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  for (const flow::Port& port : graph.inputs) {
    if (!name.empty() && graph.name(port.value) == name) return {port.value, text.substr(equals + 1)};
  }
  if (graph.inputs.size() == 1) return {graph.inputs[0].value, text};
  if (name.empty())
    throw Error(str("calibration: the network has several inputs, expected NAME=FILE for ", join(names)));
  throw Error(str("calibration: the network has no input \"", name, "\"", did_you_mean(name, names),
                  "; it has ", join(names)));
}

void expect_shape(const flow::Port& port, const Source& source) {
  const flow::Dims& wanted = port.spec.dims;
  const flow::Dims& got = source.array.dims;
  bool fits = !got.empty() && got.size() == wanted.size();
  for (size_t i = 1; fits && i < got.size(); ++i) fits = wanted[i] < 0 || wanted[i] == got[i];
  if (!fits)
    throw FormatError(source.file, str("has shape ", shape_text(got), ", expected ", expected_text(port)));
}

template <class From, class To>
void copy_numbers(const std::vector<From>& from, int64_t first, flow::Tensor& to) {
  auto values = to.values<To>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<To>(from[static_cast<size_t>(first) + i]);
}

/// Samples [first, first + count). Whole numbers may stand for floats.
flow::Tensor slice(const flow::Port& port, const Source& source, int64_t first, int64_t count) {
  flow::Dims dims = source.array.dims;
  dims[0] = count;
  flow::Tensor out({port.spec.type, dims});
  const int64_t start = count == 0 ? 0 : first * (out.elements() / count);
  const auto& values = source.array.values;
  if (const auto* floats = std::get_if<std::vector<float>>(&values); floats != nullptr) {
    if (out.type() != flow::Type::kFloat)
      throw FormatError(source.file, "has floats, expected " + expected_text(port));
    copy_numbers<float, float>(*floats, start, out);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&values); integers != nullptr) {
    if (out.type() == flow::Type::kFloat) copy_numbers<int64_t, float>(*integers, start, out);
    if (out.type() == flow::Type::kInt) copy_numbers<int64_t, int64_t>(*integers, start, out);
    if (out.type() == flow::Type::kBool)
      throw FormatError(source.file, "has integers, expected " + expected_text(port));
  } else {
    const auto& bools = std::get<std::vector<uint8_t>>(values);
    if (out.type() != flow::Type::kBool)
      throw FormatError(source.file, "has bools, expected " + expected_text(port));
    copy_numbers<uint8_t, bool>(bools, start, out);
  }
  return out;
}

}  // namespace

Batches read_calibration(const flow::Graph& graph, const std::vector<std::string>& files, int64_t samples,
                         int64_t most) {
  std::map<int32_t, Source> sources;
  for (const std::string& text : files) {
    const auto [value, file] = settle(graph, text);
    if (!sources.emplace(value, Source{file, io::read_npy_array(file)}).second) {
      throw Error(str("calibration: there are two files for the input ", graph.name(value)));
    }
  }
  int64_t count = -1;
  int64_t batch = most;
  std::string counted;  // the file that said how many
  for (const flow::Port& port : graph.inputs) {
    const auto found = sources.find(port.value);
    if (found == sources.end()) {
      throw Error(str("calibration: there is no file for the input ", graph.name(port.value), ", ",
                      expected_text(port)));
    }
    const Source& source = found->second;
    expect_shape(port, source);
    if (count >= 0 && source.array.dims[0] != count) {
      throw FormatError(source.file,
                        str("has ", source.array.dims[0], " samples, but ", counted, " has ", count));
    }
    count = source.array.dims[0];
    counted = source.file;
    if (port.spec.dims[0] > 0) batch = port.spec.dims[0];
  }
  if (samples > 0) count = std::min(count, samples);
  if (count < 1) throw FormatError(counted, "has no samples");
  // A network of a fixed batch takes whole ones only.
  const bool fixed = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                                 [](const flow::Port& port) { return port.spec.dims[0] > 0; });
  if (fixed && count < batch) {
    throw FormatError(counted,
                      str("has ", count, " samples, expected at least ", batch, ", the network's batch"));
  }
  Batches out;
  for (int64_t first = 0; first < count; first += batch) {
    const int64_t size = std::min(batch, count - first);
    if (fixed && size < batch) break;
    out.emplace_back();
    for (const flow::Port& port : graph.inputs)
      out.back().push_back(slice(port, sources.at(port.value), first, size));
  }
  return out;
}

}  // namespace hewn::refit
