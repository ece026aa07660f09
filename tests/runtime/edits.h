#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hewn/io/safetensors.h"

namespace hewn::runtime {

/// A good file as parts that can be edited one by one.
struct Parts {
  std::map<std::string, std::string> metadata;
  std::map<std::string, io::TensorView> tensors;
  std::vector<std::string> storage;

  io::TensorView& tensor(const std::string& name) { return tensors.at(name); }
  template <class T>
  void set(const std::string& name, std::vector<int64_t> shape, const std::vector<T>& values) {
    storage.emplace_back(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    tensors[name].shape = std::move(shape);
    tensors[name].data = std::as_bytes(std::span(storage.back()));
  }
  /// In the graph.
  void replace(const std::string& from, const std::string& to);
};

struct Edit {
  const char* name;
  std::function<void(Parts&)> apply;
  std::string says = "";  // a part of the message
};

/// Every edit of the file is refused in one line that begins with its path.
void expect_refused(const std::filesystem::path& good, const std::vector<Edit>& edits);

/// What no version may accept, of a file with input 3x4x4, conv "a" to 8 channels in blocks of 4x4 (7 x 2 of
/// them, all kept), relu, flatten, linear "b" to 5 outputs.
const std::vector<Edit>& tensor_edits();

}  // namespace hewn::runtime
