#include "hewn/tensor/tensor_file.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/io/source_kind.h"
#include "hewn/io/torch_file.h"
#include "hewn/tensor/state_dict.h"

namespace hewn::tensor {
namespace {

constexpr std::array<std::pair<io::DType, at::ScalarType>, 10> kTypes = {{{io::DType::kF64, at::kDouble},
                                                                          {io::DType::kF32, at::kFloat},
                                                                          {io::DType::kF16, at::kHalf},
                                                                          {io::DType::kBF16, at::kBFloat16},
                                                                          {io::DType::kI64, at::kLong},
                                                                          {io::DType::kI32, at::kInt},
                                                                          {io::DType::kI16, at::kShort},
                                                                          {io::DType::kI8, at::kChar},
                                                                          {io::DType::kU8, at::kByte},
                                                                          {io::DType::kBool, at::kBool}}};

io::DType type_of(at::ScalarType type) {
  for (const auto& [ours, torch] : kTypes) {
    if (torch == type) return ours;
  }
  throw Error(hewn::str("a tensor of type ", type, " cannot be written to a file"));
}

at::ScalarType type_of(io::DType type) {
  for (const auto& [ours, torch] : kTypes) {
    if (ours == type) return torch;
  }
  throw Error("safetensors: element type outside the table");
}

/// Tensors where a file can be written from, and views of them.
struct Views {
  explicit Views(const std::map<std::string, at::Tensor>& tensors) {
    for (const auto& [name, tensor] : tensors) {
      alive.push_back(tensor.detach().to(at::kCPU).contiguous());
      const at::Tensor& ready = alive.back();
      views[name] = {type_of(ready.scalar_type()),
                     ready.sizes().vec(),
                     {static_cast<const std::byte*>(ready.data_ptr()), ready.nbytes()}};
    }
  }
  std::vector<at::Tensor> alive;
  std::map<std::string, io::TensorView> views;
};

std::map<std::string, at::Tensor> copies_of(const std::map<std::string, io::TensorView>& views) {
  std::map<std::string, at::Tensor> out;
  for (const auto& [name, view] : views) {
    const at::Tensor tensor = at::empty(view.shape, at::TensorOptions(type_of(view.type)));
    if (!view.data.empty()) std::memcpy(tensor.data_ptr(), view.data.data(), view.data.size());
    out[name] = tensor;
  }
  return out;
}

}  // namespace

void save_tensors(const std::filesystem::path& path, const TensorFile& file, bool sealed) {
  io::write_safetensors(path, file.metadata, Views(file.tensors).views, sealed);
}

void save_torch(const std::filesystem::path& path, const std::map<std::string, at::Tensor>& tensors) {
  io::write_torch(path, Views(tensors).views);
}

TensorFile load_tensors(const std::filesystem::path& path, bool sealed) {
  const io::SafetensorsFile raw = io::read_safetensors(path, sealed);
  return {raw.metadata, copies_of(raw.tensors)};
}

TensorFile load_weights(const std::filesystem::path& path) {
  if (io::kind_of(path) != io::SourceKind::kTorch) return load_tensors(path, /*sealed=*/false);
  const io::TorchFile raw = io::read_torch(path);
  return {{}, copies_of(raw.tensors), raw.note};
}

void check_fits(const std::map<std::string, at::Tensor>& targets, const TensorFile& file,
                const std::string& prefix, const std::string& where) {
  for (const auto& [name, target] : targets) {
    const auto found = file.tensors.find(prefix + name);
    if (found == file.tensors.end())
      throw FormatError(where, hewn::str("holds no tensor \"", prefix, name, "\""));
    if (found->second.sizes() != target.sizes()) {
      throw FormatError(where, hewn::str("tensor \"", prefix, name, "\" has shape ", found->second.sizes(),
                                         ", the model needs ", target.sizes()));
    }
    if (found->second.is_floating_point() != target.is_floating_point()) {
      throw FormatError(where,
                        hewn::str("tensor \"", prefix, name, "\" is of type ", found->second.scalar_type(),
                                  ", the model needs ", target.scalar_type()));
    }
  }
}

void copy_into(const std::map<std::string, at::Tensor>& targets, const TensorFile& file,
               const std::string& prefix, const std::string& where) {
  check_fits(targets, file, prefix, where);
  const at::NoGradGuard no_grad;
  for (const auto& [name, target] : targets) target.copy_(file.tensors.at(prefix + name));
}

void copy_exactly_into(const std::map<std::string, at::Tensor>& targets, const TensorFile& file,
                       const std::string& prefix, const std::string& where) {
  check_fits(targets, file, prefix, where);
  std::map<std::string, at::Tensor> held;
  for (const auto& [name, target] : targets) {
    const at::Tensor& tensor = held[name] = file.tensors.at(prefix + name);
    if (tensor.scalar_type() == target.scalar_type()) continue;
    throw FormatError(where, hewn::str("tensor \"", prefix, name, "\" is of type ", tensor.scalar_type(),
                                       ", the run needs ", target.scalar_type()));
  }
  const std::string bad = not_finite(held);
  if (!bad.empty())
    throw FormatError(where, hewn::str("tensor \"", prefix, bad, "\" holds values that are not finite"));
  copy_into(targets, file, prefix, where);
}

}  // namespace hewn::tensor
