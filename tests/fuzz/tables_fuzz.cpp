// Damaged CSV, NPY, NPZ and PyTorch files: the first byte says which: 0 NPY, 2 NPZ, 4 PyTorch; 5 is a pickle,
// around which an archive is made that is in order. What kind they are is asked of all. 6 is the record of a
// table that a model was trained on, with the number of its features in front and new rows behind it.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/data/tables/cells.h"
#include "hewn/data/tables/encoding.h"
#include "hewn/io/csv.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "hewn/io/pickle.h"
#include "hewn/io/source_kind.h"
#include "hewn/io/torch_file.h"
#include "hewn/io/zip.h"

namespace {

void read_rows(std::string_view bytes) {
  using namespace hewn::data;
  const size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return;
  const auto rule = hewn::parse_shallow<hewn::Json>(bytes.substr(1, end - 1), 8);
  const std::vector<double> ones(static_cast<unsigned char>(bytes[0]) % 16, 1.0);
  const bool classes = bytes[0] % 2 == 0;
  const TableEncoding encoding =
      table_encoding({classes ? std::vector<std::string>{"1", "2"} : std::vector<std::string>{},
                      rule,
                      {{"means", ones}, {"scales", ones}}},
                     "record");
  const Cells cells = parse_new_rows(bytes.substr(end + 1), "rows", encoding);
  const size_t inputs = encoded_inputs(cells, encoding).size();
  if (inputs != static_cast<size_t>(cells.rows) * ones.size()) __builtin_trap();
  if (classes) {
    encoded_classes(cells, encoding);
  } else {
    encoded_numbers(cells, encoding);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  static const std::string path = "/tmp/hewn-tables-fuzz-" + std::to_string(getpid());
  {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  }
  hewn::io::kind_of(path);
  try {
    if (data[0] == '2') {
      for (const std::string& name : hewn::io::npz_arrays(path)) hewn::io::read_npz(path, name);
    } else if (data[0] == '6' && size > 1) {
      read_rows({reinterpret_cast<const char*>(data + 1), size - 1});
    } else if (data[0] == '0') {
      hewn::io::read_npy(path, hewn::io::NpyShape::kAny);
    } else if (data[0] == '4') {
      hewn::io::read_torch(path);
    } else if (data[0] == '5') {
      const std::string_view pickle(reinterpret_cast<const char*>(data + 1), size - 1);
      hewn::io::parse_pickle(pickle, "pickle");  // most end here, before a file is written
      const std::string storage(96, '\1');
      hewn::io::write_zip(path, {{"a/data.pkl", pickle}, {"a/data/0", storage}, {"a/data/1", storage}});
      hewn::io::read_torch(path);
    } else {
      hewn::io::CsvOptions options;
      options.text_columns = [](const std::vector<std::string>& names) {
        std::vector<bool> text(names.size(), false);
        text.back() = true;
        return text;
      };
      hewn::io::read_csv(path, options);
    }
  } catch (const hewn::Error&) {
  }
  return 0;
}
