#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace hewn::io {

/// Something that a pickle describes. Values name each other by their place in Pickle::values, as several may
/// hold the same one, or a list itself.
struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kTuple,
    kList,
    kDict,     // items: key, value, key, value, ...
    kGlobal,   // text: the name of a class or function of the list in pickle_objects.h
    kStorage,  // items: "storage", type, key, device, elements
    kTensor    // items: storage, offset, shape, strides, ...
  };
  Kind kind = Kind::kNone;
  uint8_t depth = 0;    // of what it held when it was made
  int64_t integer = 0;  // also a bool
  double number = 0;
  std::string text;
  std::vector<uint32_t> items;
};

struct Pickle {
  std::deque<PickleValue> values;
  uint32_t root = 0;

  const PickleValue& at(uint32_t place) const { return values[place]; }
};

/// What a pickle of protocol 2 to 5 describes, as far as state dicts need it. It is read as data: no class is
/// looked up, nothing is called. Names of others than pickle_objects.h lists, and opcodes that state dicts do
/// not have, are a FormatError, which begins with `where`. Memory is bounded, whatever the bytes say.
Pickle parse_pickle(std::string_view bytes, const std::string& where);

}  // namespace hewn::io
