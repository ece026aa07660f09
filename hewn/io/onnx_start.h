#pragma once

#include <cstdint>
#include <string_view>

namespace hewn::io {

/// Whether a file of `size` bytes that begins so can be an ONNX ModelProto. Protocol buffers have no mark of
/// their own: this follows the fields and believes those that ONNX has.
bool starts_as_onnx(std::string_view start, uint64_t size);

}  // namespace hewn::io
