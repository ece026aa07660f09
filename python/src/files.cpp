#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "arguments.h"
#include "bindings.h"
#include "hewn/save.h"
#include "hewn/tensor/tensor_file.h"

namespace py = pybind11;

namespace hewn::python {
namespace {

using Tensors = std::map<std::string, at::Tensor>;
using Metadata = std::map<std::string, std::string>;

void save(const std::string& path, const Tensors& tensors, const Metadata& metadata) {
  tensor::save_tensors(path, {metadata, tensors}, /*sealed=*/false);
}

py::tuple load(const std::string& path) {
  const tensor::TensorFile file = tensor::load_weights(path);
  const Blocks blocks = lists_blocks(file) ? blocks_in(file, path) : Blocks();
  return py::make_tuple(file.tensors, file.metadata, plain(blocks));
}

/// Of a text that a state dict's metadata holds; checked against its tensors.
PlainBlocks blocks_of_text(const std::string& text, const Tensors& tensors, const std::string& where) {
  return plain(blocks_in({{{"hewn.blocks", text}}, tensors}, where));
}

}  // namespace

void bind_files(py::module_& m) {
  m.def("save_tensors", &save);
  m.def("load_tensors", &load);
  m.def("blocks_text", [](const PlainBlocks& blocks) { return to_text(blocks_from(blocks)); });
  m.def("blocks_of_text", &blocks_of_text);
  m.def("check_zeros", [](const std::string& layer, const at::Tensor& weight, const PlainGrid& grid,
                          const std::vector<int64_t>& kept) {
    check_zeros(layer, weight, LayerBlocks(grid_from(grid), kept));
  });
}

}  // namespace hewn::python
