#include "hewn/data/source.h"

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/core/table.h"

namespace hewn::data {

#define HEWN_SOURCE(function, name, help, input, classes, kind) \
  std::unique_ptr<Source> function(const std::string& path, const DataOptions&);
#include "hewn/data/sources.def"
#undef HEWN_SOURCE

int64_t Share::rows_of(int64_t batch) const {
  if (batch % size != 0) {
    throw Error(str("batch: expected a multiple of the ", size, " processes, got ", batch));
  }
  return batch / size;
}

int64_t Share::batch_within(int64_t rows, int64_t batch) const {
  if (rows >= batch) return batch;
  if (rows > 0 && rows < size) {
    throw Error(str("data: expected a training row for each of the ", size, " processes, got ", rows));
  }
  return rows - rows % size;
}

const std::vector<SourceRow>& sources() {
  static const std::vector<SourceRow> kRows = {
#define HEWN_SOURCE(function, name, help, input, classes, kind) \
  {name, help, function, {name, input, classes, kind}},
#include "hewn/data/sources.def"
#undef HEWN_SOURCE
  };
  return kRows;
}

const SourceRow& find_source(const std::string& spec, std::string* path) {
  const size_t colon = spec.find(':');
  const std::string name = spec.substr(0, colon);
  *path = colon == std::string::npos ? "" : spec.substr(colon + 1);
  return find_row(sources(), name, "data");
}

std::unique_ptr<Source> open_source(const std::string& spec, const DataOptions& options) {
  std::string path;
  const SourceRow& row = find_source(spec, &path);
  return row.open(path, options);
}

uint32_t checksum(const at::Tensor& tensor, uint32_t seed) {
  if (!tensor.defined()) return seed;
  const at::Tensor here = tensor.cpu().contiguous();
  return crc32({static_cast<const char*>(here.data_ptr()), here.nbytes()}, seed);
}

}  // namespace hewn::data
