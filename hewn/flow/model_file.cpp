#include "hewn/flow/model_file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/flow/bf16/half_file.h"
#include "hewn/flow/graph_json.h"
#include "hewn/flow/int8/byte_file.h"
#include "hewn/io/safetensors.h"

namespace hewn::flow {
namespace {

constexpr const char* kVersion3 = "3";
constexpr const char* kNeeds = "hewn.needs";
constexpr const char* kInt8 = "int8";
constexpr const char* kBf16 = "bf16";
constexpr int kJsonDepth = 6;
constexpr size_t kMostText = size_t{1} << 26;
// Smaller tensors, and those with fewer zeros, are kept whole.
constexpr int64_t kFewestPacked = 1024;
constexpr double kMostPacked = 0.75;

io::DType file_type(Type type) {
  return type == Type::kFloat ? io::DType::kF32 : type == Type::kInt ? io::DType::kI64 : io::DType::kBool;
}

io::TensorView view_of(io::DType type, std::vector<int64_t> shape, const void* data, size_t bytes) {
  return {type, std::move(shape), {static_cast<const std::byte*>(data), bytes}};
}

/// The numbers that are not zero, and a bit for each place: 1 where there is one.
struct PackedTensor {
  std::vector<float> values;
  std::vector<uint8_t> bits;
};

PackedTensor pack_zeros(const Tensor& tensor) {
  PackedTensor out;
  const auto values = tensor.values<float>();
  out.bits.assign((values.size() + 7) / 8, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    out.bits[i / 8] = static_cast<uint8_t>(out.bits[i / 8] | 1U << (i % 8));
    out.values.push_back(values[i]);
  }
  return out;
}

bool mostly_zero(const Tensor& tensor) {
  if (tensor.type() != Type::kFloat || tensor.elements() < kFewestPacked) return false;
  const auto values = tensor.values<float>();
  const auto zeros = std::count(values.begin(), values.end(), 0.0F);
  return static_cast<double>(tensor.elements() - zeros) <
         kMostPacked * static_cast<double>(tensor.elements());
}

std::string tensor_name(int32_t value) { return str("t", value); }

/// Features that the file says a reader must know.
void check_known(const std::string& needs) {
  if (needs.empty()) return;
  const auto list = parse_shallow<nlohmann::json>(needs, 1);
  if (!list.is_array()) throw Error(str(kNeeds, " is no list"));
  for (const auto& feature : list) {
    if (feature != kInt8 && feature != kBf16)
      throw Error("needs what this version of hewn does not know: " + feature.dump());
  }
}

const io::TensorView& tensor_in(const io::SafetensorsFile& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  if (found == file.tensors.end()) throw Error(str("the tensor ", name, " is missing"));
  return found->second;
}

Tensor read_whole(const io::TensorView& view) {
  Spec spec{Type::kFloat, view.shape};
  if (view.type == io::DType::kI64) spec.type = Type::kInt;
  if (view.type == io::DType::kBool) spec.type = Type::kBool;
  if (view.type != file_type(spec.type)) throw Error("a constant has elements of another type");
  Tensor out(spec);
  if (view.data.size() != out.byte_count()) throw Error("a constant has another length");
  std::memcpy(out.bytes(), view.data.data(), out.byte_count());
  if (spec.type == Type::kBool) {
    for (size_t i = 0; i < out.byte_count(); ++i)
      out.bytes()[i] = out.bytes()[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return out;
}

Tensor read_packed(const io::SafetensorsFile& file, const std::string& name, const io::TensorView& bits) {
  const io::TensorView& values = tensor_in(file, name + ".values");
  const io::TensorView& dims = tensor_in(file, name + ".dims");
  if (bits.type != io::DType::kU8 || values.type != io::DType::kF32 || dims.type != io::DType::kI64 ||
      dims.data.size() > 16 * sizeof(int64_t)) {
    throw Error(str("the tensor ", name, " is not packed as it should be"));
  }
  Spec spec{Type::kFloat, Dims(dims.data.size() / sizeof(int64_t))};
  std::memcpy(spec.dims.data(), dims.data.data(), dims.data.size());
  const auto elements = static_cast<size_t>(spec.elements());
  if (bits.data.size() != (elements + 7) / 8) throw Error(str("the tensor ", name, " has another length"));
  Tensor out(spec);
  size_t next = 0;
  for (size_t i = 0; i < elements; ++i) {
    if ((static_cast<unsigned>(bits.data[i / 8]) >> (i % 8) & 1U) == 0) continue;
    if ((next + 1) * sizeof(float) > values.data.size())
      throw Error(str("the tensor ", name, " has too few numbers"));
    std::memcpy(&out.values<float>()[i], values.data.data() + next * sizeof(float), sizeof(float));
    ++next;
  }
  if (next * sizeof(float) != values.data.size())
    throw Error(str("the tensor ", name, " has too many numbers"));
  return out;
}

}  // namespace

void write_flow_model(const std::filesystem::path& path, const Graph& graph,
                      const std::map<std::string, std::string>& metadata,
                      const std::map<std::string, io::TensorView>& beside) {
  std::map<std::string, std::string> texts = metadata;
  texts["hewn.format"] = kVersion3;
  Json json = to_json(graph);
  Json needs = Json::array();
  if (Json bytes = bytes_json(graph); !bytes.is_null()) {
    json[kInt8] = std::move(bytes);
    needs.push_back(kInt8);
  }
  if (Json halves = halves_json(graph); !halves.is_null()) {
    json[kBf16] = std::move(halves);
    needs.push_back(kBf16);
  }
  if (!needs.empty()) texts[kNeeds] = needs.dump();
  texts["hewn.graph"] = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::map<std::string, io::TensorView> views = beside;
  std::vector<PackedTensor> packed;
  std::vector<Dims> dims;
  std::list<ByteTensors> bytes;
  std::list<HalfTensors> halves;
  packed.reserve(graph.constants.size());
  dims.reserve(graph.constants.size());
  for (const auto& [value, tensor] : graph.constants) {
    const std::string name = tensor_name(value);
    if (const auto found = graph.weight_bytes.find(value); found != graph.weight_bytes.end()) {
      add_byte_views(name, tensor, found->second, bytes, views);
      continue;
    }
    if (graph.weight_halves.contains(value)) {
      add_half_views(name, tensor, halves, views);
      continue;
    }
    if (!mostly_zero(tensor)) {
      views[name] = view_of(file_type(tensor.type()), tensor.dims(), tensor.bytes(), tensor.byte_count());
      continue;
    }
    packed.push_back(pack_zeros(tensor));
    dims.push_back(tensor.dims());
    const PackedTensor& one = packed.back();
    const auto length = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    views[name + ".bits"] = view_of(io::DType::kU8, {length(one.bits)}, one.bits.data(), one.bits.size());
    views[name + ".values"] =
        view_of(io::DType::kF32, {length(one.values)}, one.values.data(), one.values.size() * sizeof(float));
    views[name + ".dims"] = view_of(io::DType::kI64, {length(dims.back())}, dims.back().data(),
                                    dims.back().size() * sizeof(int64_t));
  }
  io::write_safetensors(path, texts, views, /*sealed=*/true);
}

FlowModel parse_flow_model(std::string bytes, const std::string& where, bool sealed) {
  const io::SafetensorsFile file = io::parse_safetensors(std::move(bytes), where, sealed);
  try {
    FlowModel out;
    out.metadata = file.metadata;
    if (out.metadata["hewn.format"] != kVersion3) throw Error("is no graph of general tensors");
    const std::string& text = out.metadata["hewn.graph"];
    if (text.size() > kMostText) throw Error(str("its graph is longer than ", kMostText, " bytes"));
    const auto json = parse_shallow<nlohmann::json>(text, kJsonDepth);
    if (json.is_discarded()) throw Error("its graph is no JSON");
    check_known(out.metadata[kNeeds]);
    out.graph = graph_from_json(json);
    if (json.contains(kInt8)) read_bytes_json(json.at(kInt8), out.graph);
    if (json.contains(kBf16)) read_halves_json(json.at(kBf16), out.graph);
    for (auto& [value, tensor] : out.graph.constants) {
      const std::string name = tensor_name(value);
      if (const auto found = out.graph.weight_bytes.find(value); found != out.graph.weight_bytes.end()) {
        tensor = read_byte_views(name, file, found->second);
        continue;
      }
      if (out.graph.weight_halves.contains(value)) {
        tensor = read_half_views(name, file);
        continue;
      }
      const auto bits = file.tensors.find(name + ".bits");
      tensor = bits == file.tensors.end() ? read_whole(tensor_in(file, name))
                                          : read_packed(file, name, bits->second);
    }
    out.metadata.erase("hewn.graph");
    return out;
  } catch (const FormatError&) {
    throw;
  } catch (const Error& error) {
    throw FormatError(where, error.what());
  }
}

FlowModel read_flow_model(const std::filesystem::path& path) {
  return parse_flow_model(read_file(path), path.string());
}

int64_t FlowModel::block() const {
  const auto found = metadata.find("hewn.block");
  if (found == metadata.end() || found->second.size() > 4) return 0;
  return std::max<int64_t>(0, std::strtoll(found->second.c_str(), nullptr, 10));
}

std::map<std::string, std::string> flow_metadata(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t length = 0;
  if (!file.read(reinterpret_cast<char*>(&length), sizeof(length)) || length > (uint64_t{1} << 27)) return {};
  std::string header(static_cast<size_t>(length), '\0');
  if (!file.read(header.data(), static_cast<std::streamsize>(length))) return {};
  const auto json = nlohmann::json::parse(header, nullptr, false);
  if (!json.is_object() || !json.contains("__metadata__")) return {};
  std::map<std::string, std::string> out;
  for (const auto& [key, text] : json.at("__metadata__").items())
    if (text.is_string()) out[key] = text.get<std::string>();
  const auto format = out.find("hewn.format");
  return format != out.end() && format->second == kVersion3 ? out : std::map<std::string, std::string>();
}

bool is_flow_model(const std::filesystem::path& path) { return !flow_metadata(path).empty(); }

}  // namespace hewn::flow
