// Damaged CSV, NPY, NPZ and PyTorch files: the first byte says which: 0 NPY, 2 NPZ, 4 PyTorch; 5 is a pickle,
// around which an archive is made that is in order. What kind they are is asked of all.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "hewn/core/error.h"
#include "hewn/io/csv.h"
#include "hewn/io/npy.h"
#include "hewn/io/npz.h"
#include "hewn/io/pickle.h"
#include "hewn/io/source_kind.h"
#include "hewn/io/torch_file.h"
#include "hewn/io/zip.h"

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
