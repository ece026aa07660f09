#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hewn/core/error.h"

namespace hewn::io {

/// Opcodes that are known, by their names in Python's pickletools.
enum PickleOp : unsigned char {
  kMark = '(',
  kStop = '.',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kInst = 'i',
  kLongBinGet = 'j',
  kObj = 'o',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

/// The bytes of a pickle, in order. Throws FormatError, which names `where`, at their end.
class PickleBytes {
 public:
  PickleBytes(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  size_t place() const { return at_; }
  std::string_view rest() const { return bytes_.substr(at_); }

  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) throw FormatError(where_, "ends inside its pickle");
    const std::string_view out = bytes_.substr(at_, count);
    at_ += count;
    return out;
  }
  unsigned byte() { return static_cast<unsigned char>(take(1)[0]); }
  uint64_t number(uint64_t count) {
    const std::string_view digits = take(count);
    uint64_t out = 0;
    for (size_t i = digits.size(); i-- > 0;) out = out << 8 | static_cast<unsigned char>(digits[i]);
    return out;
  }
  /// Up to the end of a line, which is taken too.
  std::string_view line() {
    const size_t size = rest().find('\n');
    const std::string_view out = take(size == std::string_view::npos ? rest().size() : size);
    take(1);
    return out;
  }

 private:
  std::string_view bytes_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace hewn::io
