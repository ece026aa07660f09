#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>

#include "hewn/flow/tensor.h"

namespace hewn::onnx {

/// The type that elements of an ONNX type are held in: floats of all widths as 32-bit floats, integers as
/// int64. Throws Error for texts and complex numbers.
flow::Type type_of(int element_type);

/// Throws Error where the data does not fit the shape. Data in a file is looked for in `folder`.
flow::Tensor read_tensor(const ::onnx::TensorProto& proto, const std::filesystem::path& folder);

/// The bytes of a tensor whose data is in a file in `folder`. Throws Error where they are not there.
std::string read_data(const ::onnx::TensorProto& proto, const std::filesystem::path& folder);

}  // namespace hewn::onnx
