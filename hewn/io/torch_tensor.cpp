#include "hewn/io/torch_tensor.h"

#include <algorithm>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/io/pickle_objects.h"

namespace hewn::io {
namespace {

constexpr size_t kMostDimensions = 16;
constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();

}  // namespace

uint64_t StridedTensor::elements() const {
  uint64_t out = 1;
  for (const int64_t extent : shape) out *= static_cast<uint64_t>(extent);
  return out;
}

bool StridedTensor::row_major() const {
  if (elements() == 0) return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

StridedTensor parse_tensor(const Pickle& pickle, const PickleValue& value, const std::string& name,
                           const std::string& where) {
  const auto bad = [&](const std::string& what) {
    return FormatError(where, str("tensor ", in_quotes(name), ": ", what));
  };
  const auto whole = [&](uint32_t place) {
    const PickleValue& number = pickle.at(place);
    if (number.kind != PickleValue::Kind::kInt || number.integer < 0)
      throw bad("its place in the storage is not given in whole numbers");
    return number.integer;
  };
  const PickleValue& storage = pickle.at(value.items[0]);
  StridedTensor out;
  out.type = *storage_type(pickle.at(storage.items[1]).text);
  out.key = pickle.at(storage.items[2]).text;
  out.storage = static_cast<uint64_t>(whole(storage.items[4]));
  out.offset = static_cast<uint64_t>(whole(value.items[1]));
  const std::vector<uint32_t>& shape = pickle.at(value.items[2]).items;
  const std::vector<uint32_t>& strides = pickle.at(value.items[3]).items;
  if (shape.size() != strides.size() || shape.size() > kMostDimensions)
    throw bad(str("has ", shape.size(), " dimensions and ", strides.size(), " strides"));
  for (const uint32_t extent : shape) out.shape.push_back(whole(extent));
  for (const uint32_t stride : strides) out.strides.push_back(whole(stride));

  uint64_t bytes = size_of(out.type);
  uint64_t last = out.offset;
  for (size_t i = 0; i < out.shape.size(); ++i) {
    const auto extent = static_cast<uint64_t>(std::max<int64_t>(out.shape[i], 1));
    if (extent == 1) out.strides[i] = 0;  // says nothing, and may be anything
    const auto stride = static_cast<uint64_t>(out.strides[i]);
    if (bytes > kMost / extent) throw bad("its shape overflows");
    bytes *= extent;
    if (stride > 0 && extent - 1 > (kMost - last) / stride) throw bad("its strides overflow");
    last += (extent - 1) * stride;
  }
  if (out.elements() > 0 && last >= out.storage)
    throw bad(str("reaches element ", last, " of a storage of ", out.storage));
  return out;
}

std::string gather_rows(const StridedTensor& tensor, const std::string& storage) {
  const size_t size = size_of(tensor.type);
  const size_t dimensions = tensor.shape.size();
  std::vector<int64_t> index(dimensions, 0);
  std::string out(tensor.elements() * size, '\0');
  auto from = static_cast<int64_t>(tensor.offset);
  for (size_t to = 0; to < out.size(); to += size) {
    storage.copy(out.data() + to, size, static_cast<size_t>(from) * size);
    for (size_t i = dimensions; i-- > 0;) {
      from += tensor.strides[i];
      if (++index[i] < tensor.shape[i]) break;
      from -= tensor.strides[i] * tensor.shape[i];
      index[i] = 0;
    }
  }
  return out;
}

}  // namespace hewn::io
