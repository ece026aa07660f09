#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace hewn::train {

/// Numbers in which layers compute. Weights, their gradients and the optimiser stay in fp32.
enum class Precision : uint8_t { kFp32, kBf16 };

/// "fp32" or "bf16"; throws Error for anything else.
Precision parse_precision(const std::string& name);

/// While it lives, LibTorch casts the inputs of matrix products and convolutions on that device.
class Autocast {
 public:
  Autocast(Precision precision, c10::Device device);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool on_;
  bool cuda_;
};

}  // namespace hewn::train
