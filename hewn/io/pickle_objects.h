#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hewn/io/pickle.h"
#include "hewn/io/safetensors.h"

namespace hewn::io {

/// Whether a state dict may name this class or function, "MODULE.NAME": OrderedDict, what rebuilds tensors
/// and parameters, and classes of storages.
bool is_known_global(std::string_view name);

/// The element type of a class of storages, "torch.FloatStorage".
std::optional<DType> storage_type(std::string_view global);
/// And back.
std::string storage_class(DType type);

/// What calling a known function with a tuple of arguments makes. Throws FormatError where these do not fit.
PickleValue call_known(const Pickle& pickle, const PickleValue& global, const PickleValue& arguments,
                       const std::string& where);

/// The storage that a persistent id stands for.
PickleValue make_storage(const Pickle& pickle, const PickleValue& id, const std::string& where);

/// Text from a file, fit for an error message.
std::string in_quotes(std::string_view text);

}  // namespace hewn::io
