#pragma once

namespace hewn {

constexpr const char* kVersion = "0.1.0";

}  // namespace hewn
