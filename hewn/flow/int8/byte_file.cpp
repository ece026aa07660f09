#include "hewn/flow/int8/byte_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hewn/core/error.h"
#include "hewn/flow/int8/byte_weights.h"

namespace hewn::flow {
namespace {

// Scales outside make numbers that no float holds.
constexpr float kLeastFileScale = 0x1p-60F;
constexpr float kMostFileScale = 0x1p60F;
constexpr size_t kFour = 4;
// With fewer zeros a weight is kept whole.
constexpr double kMostKept = 0.9;

[[noreturn]] void bad_bytes(const std::string& what) { throw Error("its int8 part is damaged: " + what); }

bool fits(double scale) { return scale >= kLeastFileScale && scale <= kMostFileScale; }

/// Weights of windows lie as outputs x taps x channels in the file: kept blocks are then long runs.
WeightKind kind_for(const Dims& dims, const WeightBytes& bytes) {
  if (dims.size() == 4) return WeightKind::kConv;
  return bytes.axis == 1 ? WeightKind::kInOut : WeightKind::kOutIn;
}

io::TensorView view_in(io::DType type, std::vector<int64_t> shape, const void* data, size_t bytes) {
  return {type, std::move(shape), {static_cast<const std::byte*>(data), bytes}};
}

const io::TensorView& byte_view(const io::SafetensorsFile& file, const std::string& name, io::DType type) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) throw Error(str("the tensor ", name, " is missing"));
  if (found->second.type != type) throw Error(str("the tensor ", name, " is of another type"));
  return found->second;
}

/// Groups of four bytes of which any is not zero, and a bit for each group.
void leave_out_zeros(ByteTensors& one) {
  std::vector<int8_t> kept;
  const size_t groups = (one.bytes.size() + kFour - 1) / kFour;
  one.fours.assign((groups + 7) / 8, 0);
  for (size_t g = 0; g < groups; ++g) {
    const auto begin = one.bytes.begin() + static_cast<std::ptrdiff_t>(g * kFour);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(kFour, one.bytes.size() - g * kFour));
    if (std::all_of(begin, end, [](int8_t byte) { return byte == 0; })) continue;
    one.fours[g / 8] = static_cast<uint8_t>(one.fours[g / 8] | 1U << (g % 8));
    kept.insert(kept.end(), begin, end);
  }
  if (static_cast<double>(kept.size()) > kMostKept * static_cast<double>(one.bytes.size())) {
    one.fours.clear();
  } else {
    one.bytes = std::move(kept);
  }
}

std::vector<int8_t> with_zeros(const std::string& name, const io::TensorView& fours,
                               const io::TensorView& values, size_t count) {
  const size_t groups = (count + kFour - 1) / kFour;
  std::vector<int8_t> out(count, 0);
  size_t next = 0;
  for (size_t g = 0; g < groups; ++g) {
    if ((static_cast<unsigned>(fours.data[g / 8]) >> (g % 8) & 1U) == 0) continue;
    const size_t here = std::min(kFour, count - g * kFour);
    if (next + here > values.data.size()) throw Error(str("the tensor ", name, " has too few numbers"));
    std::memcpy(out.data() + g * kFour, values.data.data() + next, here);
    next += here;
  }
  if (next != values.data.size()) throw Error(str("the tensor ", name, " has too many numbers"));
  return out;
}

}  // namespace

Json bytes_json(const Graph& graph) {
  if (graph.bytes.empty() && graph.weight_bytes.empty()) return {};
  Json values = Json::array();
  for (const auto& [value, bytes] : graph.bytes) {
    values.push_back({{"value", value}, {"scale", bytes.scale}, {"zero", bytes.zero}});
  }
  Json weights = Json::array();
  for (const auto& [value, bytes] : graph.weight_bytes) {
    if (graph.constant(value) != nullptr) weights.push_back({{"value", value}, {"axis", bytes.axis}});
  }
  return {{"values", std::move(values)}, {"weights", std::move(weights)}};
}

void read_bytes_json(const nlohmann::json& json, Graph& graph) {
  const auto number = [](const nlohmann::json& one, const char* key) -> const nlohmann::json& {
    if (!one.is_object() || !one.contains(key) || !one.at(key).is_number()) bad_bytes(key);
    return one.at(key);
  };
  const auto integer = [&](const nlohmann::json& one, const char* key, int64_t end) {
    if (!number(one, key).is_number_integer()) bad_bytes(key);
    const auto found = one.at(key).get<int64_t>();
    if (found < 0 || found >= end) bad_bytes(str(key, " ", found));
    return found;
  };
  if (!json.is_object() || !json.contains("values") || !json.contains("weights")) bad_bytes("its keys");
  const auto count = static_cast<int64_t>(graph.values.size());
  for (const auto& one : json.at("values")) {
    const auto value = static_cast<int32_t>(integer(one, "value", count));
    const auto scale = number(one, "scale").get<double>();
    if (!fits(scale)) bad_bytes("a scale");
    const auto zero = static_cast<int32_t>(integer(one, "zero", 256));
    graph.bytes[value] = {static_cast<float>(scale), zero};
  }
  for (const auto& one : json.at("weights")) {
    const auto value = static_cast<int32_t>(integer(one, "value", count));
    if (!graph.constants.contains(value)) bad_bytes("a weight is no constant");
    graph.weight_bytes[value].axis = integer(one, "axis", 2);
  }
}

void add_byte_views(const std::string& name, const Tensor& tensor, const WeightBytes& bytes,
                    std::list<ByteTensors>& kept, std::map<std::string, io::TensorView>& views) {
  kept.emplace_back();
  ByteTensors& one = kept.back();
  one.bytes = bytes_of(tensor, bytes, kind_for(tensor.dims(), bytes));
  one.dims = tensor.dims();
  leave_out_zeros(one);
  const auto length = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  views[name + ".scales"] = view_in(io::DType::kF32, {length(bytes.scales)}, bytes.scales.data(),
                                    bytes.scales.size() * sizeof(float));
  views[name + ".dims"] =
      view_in(io::DType::kI64, {length(one.dims)}, one.dims.data(), one.dims.size() * sizeof(int64_t));
  views[name + ".bytes"] = view_in(io::DType::kI8, {length(one.bytes)}, one.bytes.data(), one.bytes.size());
  if (one.fours.empty()) return;
  views[name + ".fours"] = view_in(io::DType::kU8, {length(one.fours)}, one.fours.data(), one.fours.size());
}

Tensor read_byte_views(const std::string& name, const io::SafetensorsFile& file, WeightBytes& bytes) {
  const io::TensorView& dims = byte_view(file, name + ".dims", io::DType::kI64);
  const size_t rank = dims.data.size() / sizeof(int64_t);
  if (rank != 2 && rank != 4) bad_bytes(str(name, " has ", rank, " dimensions"));
  Spec spec{Type::kFloat, Dims(rank)};
  std::memcpy(spec.dims.data(), dims.data.data(), dims.data.size());
  const auto count = static_cast<size_t>(spec.elements());
  const io::TensorView& values = byte_view(file, name + ".bytes", io::DType::kI8);
  const bool sparse = file.tensors.contains(name + ".fours");
  // Before any memory is taken for it.
  const size_t groups = (count + kFour - 1) / kFour;
  const bool whole = sparse ? byte_view(file, name + ".fours", io::DType::kU8).data.size() == (groups + 7) / 8
                            : values.data.size() == count;
  if (!whole) throw Error(str("the tensor ", name, " has another length"));
  Tensor out(spec);
  if (rank == 4 && bytes.axis != 0) bad_bytes(str("the axis of ", name));
  const io::TensorView& scales = byte_view(file, name + ".scales", io::DType::kF32);
  bytes.scales.resize(scales.data.size() / sizeof(float));
  std::memcpy(bytes.scales.data(), scales.data.data(), scales.data.size());
  if (static_cast<int64_t>(bytes.scales.size()) != spec.dims[static_cast<size_t>(bytes.axis)]) {
    bad_bytes(str(name, " has another number of scales than outputs"));
  }
  if (!std::all_of(bytes.scales.begin(), bytes.scales.end(), fits)) bad_bytes(str("a scale of ", name));
  std::vector<int8_t> all;
  if (sparse) {
    all = with_zeros(name, byte_view(file, name + ".fours", io::DType::kU8), values, count);
  } else {
    all.resize(count);
    std::memcpy(all.data(), values.data.data(), count);
  }
  if (std::find(all.begin(), all.end(), int8_t{-128}) != all.end())
    bad_bytes(str(name, " has a byte of -128"));
  put_bytes(all, bytes, kind_for(spec.dims, bytes), out);
  return out;
}

}  // namespace hewn::flow
