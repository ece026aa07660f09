#include "hewn/refit/calibration.h"

#include <algorithm>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/core/text.h"
#include "hewn/io/source_kind.h"

namespace hewn::refit {
namespace {

std::string shape_text(const flow::Dims& dims) {
  std::vector<std::string> words;
  for (const int64_t dim : dims) words.push_back(dim < 0 ? "?" : std::to_string(dim));
  return "(" + join(words) + ")";
}

void expect_shape(const flow::Port& port, const Samples& source) {
  const flow::Dims& wanted = port.spec.dims;
  const flow::Dims& got = source.array.dims;
  bool fits = !got.empty() && got.size() == wanted.size();
  for (size_t i = 1; fits && i < got.size(); ++i) fits = wanted[i] < 0 || wanted[i] == got[i];
  if (!fits)
    throw FormatError(source.where, str("has shape ", shape_text(got), ", expected ", expected_text(port)));
}

template <class From, class To>
void copy_numbers(const std::vector<From>& from, int64_t first, flow::Tensor& to) {
  auto values = to.values<To>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<To>(from[static_cast<size_t>(first) + i]);
}

/// Samples [first, first + count). Whole numbers may stand for floats.
flow::Tensor slice(const flow::Port& port, const Samples& source, int64_t first, int64_t count) {
  flow::Dims dims = source.array.dims;
  dims[0] = count;
  flow::Tensor out({port.spec.type, dims});
  const int64_t start = count == 0 ? 0 : first * (out.elements() / count);
  const auto& values = source.array.values;
  if (const auto* floats = std::get_if<std::vector<float>>(&values); floats != nullptr) {
    if (out.type() != flow::Type::kFloat)
      throw FormatError(source.where, "has floats, expected " + expected_text(port));
    copy_numbers<float, float>(*floats, start, out);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&values); integers != nullptr) {
    if (out.type() == flow::Type::kFloat) copy_numbers<int64_t, float>(*integers, start, out);
    if (out.type() == flow::Type::kInt) copy_numbers<int64_t, int64_t>(*integers, start, out);
    if (out.type() == flow::Type::kBool)
      throw FormatError(source.where, "has integers, expected " + expected_text(port));
  } else {
    const auto& bools = std::get<std::vector<uint8_t>>(values);
    if (out.type() != flow::Type::kBool)
      throw FormatError(source.where, "has bools, expected " + expected_text(port));
    copy_numbers<uint8_t, bool>(bools, start, out);
  }
  return out;
}

/// Appends a file's samples, or its one sample.
void append(const flow::Port& port, const std::string& file, io::NpyArray more, Samples& to) {
  if (more.dims.size() + 1 == port.spec.dims.size()) more.dims.insert(more.dims.begin(), 1);
  expect_shape(port, {file, more});
  if (to.array.dims.empty()) {
    to.array = std::move(more);
    return;
  }
  if (more.values.index() != to.array.values.index() ||
      !std::equal(more.dims.begin() + 1, more.dims.end(), to.array.dims.begin() + 1)) {
    throw FormatError(file, str("has elements of another type, or samples of another shape than ",
                                shape_text(to.array.dims), ", which the files before it have"));
  }
  to.array.dims[0] += more.dims[0];
  std::visit(
      [&](auto& values) {
        const auto& others = std::get<std::decay_t<decltype(values)>>(more.values);
        values.insert(values.end(), others.begin(), others.end());
      },
      to.array.values);
}

bool has_fixed_batch(const flow::Graph& graph) {
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [](const flow::Port& port) { return !port.spec.dims.empty() && port.spec.dims[0] > 0; });
}

/// How many samples are used, at most `most` unless that is 0; the same for all inputs.
int64_t count_samples(const flow::Graph& graph, const std::vector<Samples>& samples, int64_t most) {
  const auto used = [&](const Samples& some) {
    return most > 0 ? std::min(some.array.dims[0], most) : some.array.dims[0];
  };
  for (size_t i = 0; i < samples.size(); ++i) {
    expect_shape(graph.inputs[i], samples[i]);
    if (used(samples[i]) != used(samples[0])) {
      throw FormatError(samples[i].where, str("has ", samples[i].array.dims[0], " samples, but ",
                                              samples[0].where, " has ", samples[0].array.dims[0]));
    }
  }
  return used(samples[0]);
}

}  // namespace

std::string expected_text(const flow::Port& port) {
  flow::Dims dims = port.spec.dims;
  if (!dims.empty()) dims[0] = -1;
  return str(flow::name_of(port.spec.type), " of shape ", shape_text(dims));
}

std::pair<size_t, std::string> calibration_path(const flow::Graph& graph, const std::string& text) {
  std::vector<std::string> names;
  for (const flow::Port& port : graph.inputs) names.push_back(graph.name(port.value));
  const size_t equals = text.find('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!name.empty() && names[i] == name) return {i, text.substr(equals + 1)};
  }
  if (names.size() == 1) return {0, text};
  if (name.empty())
    throw Error(str("calibration: the network has several inputs, expected NAME=FILE for ", join(names)));
  throw Error(str("calibration: the network has no input \"", name, "\"", did_you_mean(name, names),
                  "; it has ", join(names)));
}

Samples read_samples(const flow::Port& port, const std::filesystem::path& path, int64_t samples) {
  Samples out{path.string(), {}};
  std::error_code problem;
  if (!std::filesystem::is_directory(path, problem)) {
    out.array = io::read_npy_array(path);
    return out;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, problem)) {
    if (io::kind_of(entry.path()) == io::SourceKind::kNpy) files.push_back(entry.path());
  }
  if (problem) throw FormatError(path.string(), "cannot be read: " + problem.message());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    append(port, file.string(), io::read_npy_array(file), out);
    if (samples > 0 && out.array.dims[0] >= samples) break;
  }
  if (files.empty()) throw FormatError(path.string(), "has no .npy files");
  return out;
}

Batches batches_of(const flow::Graph& graph, const std::vector<Samples>& samples, int64_t count,
                   int64_t most) {
  const int64_t used = count_samples(graph, samples, count);
  if (used < 1) throw FormatError(samples[0].where, "has no samples");
  // A network of a fixed batch takes whole ones only.
  const bool fixed = has_fixed_batch(graph);
  int64_t batch = most;
  for (const flow::Port& port : graph.inputs) {
    if (port.spec.dims[0] > 0) batch = port.spec.dims[0];
  }
  if (fixed && used < batch) {
    throw FormatError(samples[0].where,
                      str("has ", used, " samples, expected at least ", batch, ", the network's batch"));
  }
  Batches out;
  for (int64_t first = 0; first < used; first += batch) {
    const int64_t size = std::min(batch, used - first);
    if (fixed && size < batch) break;
    out.emplace_back();
    for (size_t i = 0; i < samples.size(); ++i)
      out.back().push_back(slice(graph.inputs[i], samples[i], first, size));
  }
  return out;
}

}  // namespace hewn::refit
