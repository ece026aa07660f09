#pragma once

#include <string>
#include <vector>

#include "hewn/io/pickle.h"
#include "hewn/io/safetensors.h"

namespace hewn::io {

/// A tensor as a pickle describes it: where its elements lie in a storage.
struct StridedTensor {
  DType type = DType::kF32;
  std::string key;       // of the storage
  uint64_t storage = 0;  // its elements, as the pickle says
  uint64_t offset = 0;   // of the first, in elements
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  uint64_t elements() const;
  /// Whether the elements follow each other row by row.
  bool row_major() const;
};

/// Checks that every element lies inside the storage as the pickle describes it, and that the bytes of all do
/// not overflow. Throws FormatError, which names the tensor.
StridedTensor parse_tensor(const Pickle& pickle, const PickleValue& value, const std::string& name,
                           const std::string& where);

/// The elements row by row.
std::string gather_rows(const StridedTensor& tensor, const std::string& storage);

}  // namespace hewn::io
