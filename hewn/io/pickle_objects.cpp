#include "hewn/io/pickle_objects.h"

#include <array>
#include <utility>

#include "hewn/core/error.h"

namespace hewn::io {
namespace {

using Kind = PickleValue::Kind;

constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr std::array<std::pair<DType, std::string_view>, 10> kStorages = {
    {{DType::kF64, "torch.DoubleStorage"},
     {DType::kF32, "torch.FloatStorage"},
     {DType::kF16, "torch.HalfStorage"},
     {DType::kBF16, "torch.BFloat16Storage"},
     {DType::kI64, "torch.LongStorage"},
     {DType::kI32, "torch.IntStorage"},
     {DType::kI16, "torch.ShortStorage"},
     {DType::kI8, "torch.CharStorage"},
     {DType::kU8, "torch.ByteStorage"},
     {DType::kBool, "torch.BoolStorage"}}};

/// Whether it is a tuple that begins with these kinds and has at most so many items.
bool is_tuple(const Pickle& pickle, const PickleValue& value, const std::vector<Kind>& kinds, size_t most) {
  if (value.kind != Kind::kTuple || value.items.size() < kinds.size() || value.items.size() > most)
    return false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (pickle.at(value.items[i]).kind != kinds[i]) return false;
  }
  return true;
}

}  // namespace

bool is_known_global(std::string_view name) {
  return name == kOrderedDict || name == kTensor || name == kParameter || storage_type(name);
}

std::optional<DType> storage_type(std::string_view global) {
  for (const auto& [type, name] : kStorages) {
    if (name == global) return type;
  }
  return {};
}

std::string storage_class(DType type) {
  for (const auto& [known, name] : kStorages) {
    if (known == type) return std::string(name);
  }
  throw Error("torch: element type outside the table");
}

PickleValue call_known(const Pickle& pickle, const PickleValue& global, const PickleValue& arguments,
                       const std::string& where) {
  const bool called = global.kind == Kind::kGlobal;
  if (called && global.text == kOrderedDict && is_tuple(pickle, arguments, {}, 0)) {
    return {Kind::kDict, 0, 0, 0, "", {}};
  }
  if (called && global.text == kTensor &&
      is_tuple(pickle, arguments, {Kind::kStorage, Kind::kInt, Kind::kTuple, Kind::kTuple}, 7)) {
    return {Kind::kTensor, 0, 0, 0, "", arguments.items};
  }
  if (called && global.text == kParameter && is_tuple(pickle, arguments, {Kind::kTensor}, 3)) {
    return pickle.at(arguments.items[0]);
  }
  throw FormatError(where, called ? str("calls ", global.text, " with other arguments than a state dict does")
                                  : "calls something that is no function");
}

PickleValue make_storage(const Pickle& pickle, const PickleValue& id, const std::string& where) {
  constexpr size_t kLongestKey = 100;  // a number, usually; many tensors may have the same
  const bool fits =
      is_tuple(pickle, id, {Kind::kText, Kind::kGlobal, Kind::kText, Kind::kText, Kind::kInt}, 5) &&
      pickle.at(id.items[0]).text == "storage" && storage_type(pickle.at(id.items[1]).text) &&
      pickle.at(id.items[2]).text.size() <= kLongestKey;
  if (!fits) throw FormatError(where, "has a persistent id that names no storage");
  return {Kind::kStorage, 0, 0, 0, "", id.items};
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 100;
  std::string out = "\"";
  for (const char c : text.substr(0, kLongest)) out += c >= ' ' && c <= '~' && c != '"' ? c : '?';
  return out + (text.size() > kLongest ? "...\"" : "\"");
}

}  // namespace hewn::io
