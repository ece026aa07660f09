#include "hewn/runtime/preprocessing.h"

#include <cstring>
#include <span>

#include "hewn/core/error.h"
#include "hewn/runtime/about.h"
#include "hewn/runtime/node_json.h"

namespace hewn::runtime {
namespace {

const std::string kArrayPrefix = "preprocessing.";

template <class T>
std::vector<T> array_of(const io::TensorView& view) {
  std::vector<T> out(view.data.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), view.data.data(), out.size() * sizeof(T));
  return out;
}

template <class T>
io::TensorView view_of(io::DType type, const std::vector<T>& values) {
  return {type, {static_cast<int64_t>(values.size())}, std::as_bytes(std::span(values))};
}

ModelData as_model(const Preprocessing& from) {
  ModelData model;
  model.classes = from.classes;
  model.preprocessing = from.rule;
  return model;
}

/// As many outputs as the classes can be meant for: who reads the file knows the model.
Shape outputs_for(size_t classes) { return {static_cast<int64_t>(classes), 1, 1}; }

}  // namespace

Arrays read_arrays(const io::SafetensorsFile& file) {
  Arrays out;
  for (auto at = file.tensors.lower_bound(kArrayPrefix); at != file.tensors.end(); ++at) {
    const auto& [name, view] = *at;
    if (!name.starts_with(kArrayPrefix)) break;
    if (view.shape.size() != 1) throw Error(str(in_quotes(name), " has not one dimension"));
    if (view.type == io::DType::kI64) {
      out[name.substr(kArrayPrefix.size())] = array_of<int64_t>(view);
    } else if (view.type == io::DType::kF64) {
      out[name.substr(kArrayPrefix.size())] = array_of<double>(view);
    } else {
      throw Error(str(in_quotes(name), " is neither of type I64 nor F64"));
    }
  }
  return out;
}

void add_arrays(const Arrays& arrays, std::map<std::string, io::TensorView>& views) {
  for (const auto& [name, values] : arrays) {
    const auto* whole = std::get_if<std::vector<int64_t>>(&values);
    views[kArrayPrefix + name] = whole != nullptr
                                     ? view_of(io::DType::kI64, *whole)
                                     : view_of(io::DType::kF64, std::get<std::vector<double>>(values));
  }
}

void write_preprocessing(const std::filesystem::path& path, const Preprocessing& preprocessing) {
  std::map<std::string, std::string> metadata;
  std::map<std::string, io::TensorView> views;
  write_about(as_model(preprocessing), outputs_for(preprocessing.classes.size()), metadata);
  metadata.erase("hewn.about");
  add_arrays(preprocessing.arrays, views);
  io::write_safetensors(path, metadata, views, /*sealed=*/true);
}

Preprocessing read_preprocessing(const std::filesystem::path& path, int64_t outputs) {
  const io::SafetensorsFile file = io::read_safetensors(path, /*sealed=*/true);
  try {
    ModelData model;
    read_about(file.metadata, {outputs, 1, 1}, model);
    return {std::move(model.classes), std::move(model.preprocessing), read_arrays(file)};
  } catch (const Error& error) {
    throw FormatError(path.string(), error.what());
  }
}

}  // namespace hewn::runtime
