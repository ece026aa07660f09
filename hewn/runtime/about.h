#pragma once

#include <map>
#include <string>

#include "hewn/runtime/model_file.h"

namespace hewn::runtime {

// What a model file of version 2 says beside its graph and its weights: the metadata "hewn.needs",
// "hewn.about", "hewn.preprocessing" and "hewn.classes".

/// Throws Error where the file needs something that this version does not know; names all of it.
void check_needs(const std::map<std::string, std::string>& metadata);

/// Fills names, free metadata, preprocessing and classes; what the file leaves out stays as it is.
void read_about(const std::map<std::string, std::string>& metadata, const Shape& output, ModelData& model);

/// Adds what read_about reads. Throws Error for what it would refuse.
void write_about(const ModelData& model, const Shape& output, std::map<std::string, std::string>& metadata);

}  // namespace hewn::runtime
