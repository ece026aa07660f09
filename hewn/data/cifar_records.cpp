#include "hewn/data/cifar_records.h"

#include "hewn/core/error.h"

namespace hewn::data {
namespace {

/// The class of the record that begins at this byte.
int64_t label_at(std::string_view bytes, size_t at, const std::vector<int64_t>& labels,
                 const std::string& where) {
  int64_t label = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    label = static_cast<unsigned char>(bytes[at + i]);
    if (label >= labels[i]) throw FormatError(where, str("record at byte ", at, " has label ", label));
  }
  return label;
}

}  // namespace

CifarRecords parse_cifar(std::string_view bytes, const std::vector<int64_t>& labels,
                         const std::string& where) {
  const size_t record = labels.size() + static_cast<size_t>(kCifarPixels);
  if (bytes.empty() || bytes.size() % record != 0) {
    throw FormatError(
        where, str("is truncated: ", bytes.size(), " bytes are no whole number of records of ", record));
  }
  CifarRecords out;
  out.pixels.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size(); at += record) {
    out.labels.push_back(label_at(bytes, at, labels, where));
    out.pixels.append(bytes.substr(at + labels.size(), static_cast<size_t>(kCifarPixels)));
  }
  return out;
}

}  // namespace hewn::data
