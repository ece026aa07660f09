#include "hewn/flow/bf16/half_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "hewn/core/error.h"

namespace hewn::flow {
namespace {

constexpr size_t kHalfGroup = 4;
// With fewer zeros a weight is kept whole.
constexpr double kMostHalvesKept = 0.9;

[[noreturn]] void bad_halves(const std::string& what) { throw Error("its bf16 part is damaged: " + what); }

size_t half_groups(size_t count) { return (count + kHalfGroup - 1) / kHalfGroup; }

/// Calls body(place in the file, place in the tensor). Weights of windows lie as outputs x taps x channels in
/// the file: kept blocks are then long runs.
template <class Body>
void each_place(const Dims& dims, const Body& body) {
  const size_t outputs = static_cast<size_t>(dims[0]);
  const size_t channels = static_cast<size_t>(dims[1]);
  size_t taps = 1;
  for (size_t d = 2; d < dims.size(); ++d) taps *= static_cast<size_t>(dims[d]);
  size_t next = 0;
  for (size_t j = 0; j < outputs; ++j) {
    for (size_t t = 0; t < taps; ++t) {
      for (size_t c = 0; c < channels; ++c) body(next++, (j * channels + c) * taps + t);
    }
  }
}

/// Groups of four of which any is not zero, and a bit for each group.
void leave_out_zero_halves(HalfTensors& one) {
  std::vector<uint16_t> kept;
  const size_t groups = half_groups(one.halves.size());
  one.fours.assign((groups + 7) / 8, 0);
  for (size_t g = 0; g < groups; ++g) {
    const auto begin = one.halves.begin() + static_cast<std::ptrdiff_t>(g * kHalfGroup);
    const auto end =
        begin + static_cast<std::ptrdiff_t>(std::min(kHalfGroup, one.halves.size() - g * kHalfGroup));
    if (std::all_of(begin, end, [](uint16_t half) { return half == 0; })) continue;
    one.fours[g / 8] = static_cast<uint8_t>(one.fours[g / 8] | 1U << (g % 8));
    kept.insert(kept.end(), begin, end);
  }
  if (static_cast<double>(kept.size()) > kMostHalvesKept * static_cast<double>(one.halves.size())) {
    one.fours.clear();
  } else {
    one.halves = std::move(kept);
  }
}

const io::TensorView& half_view(const io::SafetensorsFile& file, const std::string& name, io::DType type) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) throw Error(str("the tensor ", name, " is missing"));
  if (found->second.type != type) throw Error(str("the tensor ", name, " is of another type"));
  return found->second;
}

/// All numbers of the file, with the zeros that it leaves out; `fours` null: it leaves out none.
std::vector<uint16_t> whole_halves(const std::string& name, const io::TensorView& values,
                                   const io::TensorView* fours, size_t count) {
  std::vector<uint16_t> out(count, 0);
  size_t next = 0;
  for (size_t g = 0; g < half_groups(count); ++g) {
    if (fours != nullptr && (static_cast<unsigned>(fours->data[g / 8]) >> (g % 8) & 1U) == 0) continue;
    const size_t here = std::min(kHalfGroup, count - g * kHalfGroup) * sizeof(uint16_t);
    if (next + here > values.data.size()) throw Error(str("the tensor ", name, " has too few numbers"));
    std::memcpy(out.data() + g * kHalfGroup, values.data.data() + next, here);
    next += here;
  }
  if (next != values.data.size()) throw Error(str("the tensor ", name, " has too many numbers"));
  return out;
}

}  // namespace

Json halves_json(const Graph& graph) {
  if (graph.halves.empty() && graph.weight_halves.empty()) return {};
  Json weights = Json::array();
  for (const int32_t value : graph.weight_halves) {
    if (graph.constant(value) != nullptr) weights.push_back(value);
  }
  return {{"values", graph.halves}, {"weights", std::move(weights)}};
}

void read_halves_json(const nlohmann::json& json, Graph& graph) {
  const auto read = [&](const char* key, std::set<int32_t>& to) {
    if (!json.is_object() || !json.contains(key) || !json.at(key).is_array()) bad_halves(key);
    for (const auto& one : json.at(key)) {
      if (!one.is_number_integer()) bad_halves(key);
      const auto value = one.get<int64_t>();
      if (value < 0 || value >= static_cast<int64_t>(graph.values.size())) bad_halves(str("value ", value));
      to.insert(static_cast<int32_t>(value));
    }
  };
  read("values", graph.halves);
  read("weights", graph.weight_halves);
  for (const int32_t value : graph.weight_halves) {
    if (!graph.constants.contains(value)) bad_halves("a weight is no constant");
    if (graph.weight_bytes.contains(value)) bad_halves("a weight is one of bytes too");
  }
}

void add_half_views(const std::string& name, const Tensor& tensor, std::list<HalfTensors>& kept,
                    std::map<std::string, io::TensorView>& views) {
  kept.emplace_back();
  HalfTensors& one = kept.back();
  one.dims = tensor.dims();
  const auto values = tensor.values<float>();
  one.halves.resize(values.size());
  each_place(one.dims, [&](size_t to, size_t from) {
    one.halves[to] = static_cast<uint16_t>(std::bit_cast<uint32_t>(values[from]) >> 16);
  });
  leave_out_zero_halves(one);
  const auto add = [&](const char* end, io::DType type, const auto& list) {
    views[name + end] = {type,
                         {static_cast<int64_t>(list.size())},
                         {reinterpret_cast<const std::byte*>(list.data()), list.size() * sizeof(list[0])}};
  };
  add(".dims", io::DType::kI64, one.dims);
  add(".halves", io::DType::kBF16, one.halves);
  if (!one.fours.empty()) add(".fours", io::DType::kU8, one.fours);
}

Tensor read_half_views(const std::string& name, const io::SafetensorsFile& file) {
  const io::TensorView& dims = half_view(file, name + ".dims", io::DType::kI64);
  const size_t rank = dims.data.size() / sizeof(int64_t);
  if (rank != 2 && rank != 4) bad_halves(str(name, " has ", rank, " dimensions"));
  Spec spec{Type::kFloat, Dims(rank)};
  std::memcpy(spec.dims.data(), dims.data.data(), dims.data.size());
  const auto count = static_cast<size_t>(spec.elements());
  const io::TensorView& values = half_view(file, name + ".halves", io::DType::kBF16);
  const bool sparse = file.tensors.contains(name + ".fours");
  const io::TensorView* fours = sparse ? &half_view(file, name + ".fours", io::DType::kU8) : nullptr;
  // Before any memory is taken for it.
  const bool whole = sparse ? fours->data.size() == (half_groups(count) + 7) / 8
                            : values.data.size() == count * sizeof(uint16_t);
  if (!whole) throw Error(str("the tensor ", name, " has another length"));
  const std::vector<uint16_t> halves = whole_halves(name, values, fours, count);
  Tensor out(spec);
  auto to = out.values<float>();
  each_place(spec.dims, [&](size_t from, size_t at) {
    to[at] = std::bit_cast<float>(static_cast<uint32_t>(halves[from]) << 16);
    if (!std::isfinite(to[at])) bad_halves(str(name, " has a number that is none"));
  });
  return out;
}

}  // namespace hewn::flow
