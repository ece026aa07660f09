#include "hewn/onnx/tensors.h"

#include <bit>
#include <cstring>
#include <fstream>

#include "hewn/core/error.h"

namespace hewn::onnx {
namespace {

using ::onnx::TensorProto;

float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 0x1FU;
  const uint32_t fraction = half & 0x3FFU;
  if (exponent == 0) {
    const float small = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -small : small;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// Bytes of one element in raw data.
size_t raw_size(int type) {
  switch (type) {
    case TensorProto::DOUBLE:
    case TensorProto::INT64:
    case TensorProto::UINT64:
      return 8;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 4;
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return 2;
    default:
      return 1;
  }
}

template <class Stored>
Stored stored(const char* from, size_t i) {
  Stored value;
  std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
  return value;
}

float float_of(int type, const char* from, size_t i) {
  if (type == TensorProto::DOUBLE) return static_cast<float>(stored<double>(from, i));
  if (type == TensorProto::FLOAT) return stored<float>(from, i);
  const auto half = stored<uint16_t>(from, i);
  return type == TensorProto::FLOAT16 ? half_to_float(half)
                                      : std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

int64_t integer_of(int type, const char* from, size_t i) {
  switch (type) {
    case TensorProto::INT64:
      return stored<int64_t>(from, i);
    case TensorProto::UINT64:
      return static_cast<int64_t>(stored<uint64_t>(from, i));
    case TensorProto::INT32:
      return stored<int32_t>(from, i);
    case TensorProto::UINT32:
      return stored<uint32_t>(from, i);
    case TensorProto::INT16:
      return stored<int16_t>(from, i);
    case TensorProto::UINT16:
      return stored<uint16_t>(from, i);
    case TensorProto::INT8:
      return stored<int8_t>(from, i);
    default:
      return stored<uint8_t>(from, i);
  }
}

void read_raw(int type, const std::string& raw, flow::Tensor& out) {
  if (raw.size() != static_cast<size_t>(out.elements()) * raw_size(type)) {
    throw Error(
        str("has ", raw.size(), " bytes, expected ", static_cast<size_t>(out.elements()) * raw_size(type)));
  }
  const auto elements = static_cast<size_t>(out.elements());
  for (size_t i = 0; i < elements; ++i) {
    if (out.type() == flow::Type::kFloat) out.values<float>()[i] = float_of(type, raw.data(), i);
    if (out.type() == flow::Type::kInt) out.values<int64_t>()[i] = integer_of(type, raw.data(), i);
    if (out.type() == flow::Type::kBool) out.values<bool>()[i] = raw[i] != 0;
  }
}

template <class T, class Field, class Convert>
void read_field(const Field& field, const Convert& convert, flow::Tensor& out) {
  if (field.size() != out.elements())
    throw Error(str("has ", field.size(), " numbers, expected ", out.elements()));
  for (int i = 0; i < field.size(); ++i) out.values<T>()[static_cast<size_t>(i)] = convert(field.Get(i));
}

void read_fields(const TensorProto& proto, flow::Tensor& out) {
  const auto as_float = [](auto value) { return static_cast<float>(value); };
  const auto as_integer = [](auto value) { return static_cast<int64_t>(value); };
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
      return read_field<float>(proto.float_data(), as_float, out);
    case TensorProto::DOUBLE:
      return read_field<float>(proto.double_data(), as_float, out);
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16: {
      const int type = proto.data_type();
      const auto widen = [type](int32_t bits) {
        const auto half = static_cast<uint16_t>(bits);
        return float_of(type, reinterpret_cast<const char*>(&half), 0);
      };
      return read_field<float>(proto.int32_data(), widen, out);
    }
    case TensorProto::INT64:
      return read_field<int64_t>(proto.int64_data(), as_integer, out);
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return read_field<int64_t>(proto.uint64_data(), as_integer, out);
    case TensorProto::BOOL:
      return read_field<bool>(
          proto.int32_data(), [](int32_t value) { return value != 0; }, out);
    default:
      return read_field<int64_t>(proto.int32_data(), as_integer, out);
  }
}

/// A file beside the model: never one elsewhere, whatever the model says.
std::string read_external(const TensorProto& proto, const std::filesystem::path& folder, size_t bytes) {
  std::string location;
  uint64_t offset = 0;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") {
      char* end = nullptr;
      offset = std::strtoull(entry.value().c_str(), &end, 10);
      if (entry.value().empty() || *end != 0) throw Error("its data has no proper offset");
    }
  }
  const std::filesystem::path relative(location);
  bool inside = !location.empty() && !relative.is_absolute() && location.find('\0') == std::string::npos;
  for (const auto& part : relative) inside = inside && part != "..";
  if (!inside) throw Error("its data is not in a file beside the model");
  std::error_code code;
  const std::filesystem::path path = folder / relative;
  const auto size = std::filesystem::file_size(path, code);
  if (code) throw Error(str("its data should be in ", path.string(), ", which cannot be read"));
  if (offset > size || bytes > size - offset) throw Error(str(path.string(), " ends before its data does"));
  std::ifstream file(path, std::ios::binary);
  std::string out(bytes, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(out.data(), static_cast<std::streamsize>(bytes)))
    throw Error(str(path.string(), " cannot be read"));
  return out;
}

}  // namespace

flow::Type type_of(int element_type) {
  switch (element_type) {
    case TensorProto::FLOAT:
    case TensorProto::DOUBLE:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return flow::Type::kFloat;
    case TensorProto::INT64:
    case TensorProto::INT32:
    case TensorProto::INT16:
    case TensorProto::INT8:
    case TensorProto::UINT64:
    case TensorProto::UINT32:
    case TensorProto::UINT16:
    case TensorProto::UINT8:
      return flow::Type::kInt;
    case TensorProto::BOOL:
      return flow::Type::kBool;
    default:
      throw Error(str("elements of type ", element_type, " are not supported"));
  }
}

std::string read_data(const TensorProto& proto, const std::filesystem::path& folder) {
  const flow::Spec spec{type_of(proto.data_type()), {proto.dims().begin(), proto.dims().end()}};
  return read_external(proto, folder, static_cast<size_t>(spec.elements()) * raw_size(proto.data_type()));
}

flow::Tensor read_tensor(const TensorProto& proto, const std::filesystem::path& folder) {
  const flow::Spec spec{type_of(proto.data_type()), {proto.dims().begin(), proto.dims().end()}};
  if (proto.data_location() == TensorProto::EXTERNAL) {
    const std::string data = read_data(proto, folder);
    flow::Tensor out(spec);
    read_raw(proto.data_type(), data, out);
    return out;
  }
  // Data in the file bounds what is allocated.
  const size_t there = proto.has_raw_data() ? proto.raw_data().size() : proto.ByteSizeLong();
  if (static_cast<size_t>(spec.elements()) > there)
    throw Error(str("has less data than ", to_string(spec), " needs"));
  flow::Tensor out(spec);
  proto.has_raw_data() ? read_raw(proto.data_type(), proto.raw_data(), out) : read_fields(proto, out);
  return out;
}

}  // namespace hewn::onnx
