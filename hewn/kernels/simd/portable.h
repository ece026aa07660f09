#pragma once

#include <cstdint>

namespace hewn::kernels {

/// Vectors as the compiler offers them, for whatever instructions it was told to use. The fallback where
/// Highway is not installed or knows no instructions for this CPU.
struct PortableSimd {
  using Vector = float __attribute__((vector_size(32), aligned(4)));
  using Half = Vector;
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kPanelWidth = 8;
  static constexpr int kTileOutputs = 4;

  static Vector set(float v) { return Vector{v, v, v, v, v, v, v, v}; }
  static Vector set_half(float v) { return set(v); }
  static Vector load(const float* from) { return *reinterpret_cast<const Vector*>(from); }
  static Vector load_half(const float* from) { return load(from); }
  static void multiply_add(const Vector& a, const Vector& b, Vector& sum) { sum += a * b; }
  static Vector plus(const Vector& a, const Vector& b) { return a + b; }
  static Vector relu(const Vector& v) { return v > 0.0F ? v : Vector{}; }
  static void store(const Vector& v, float* to) { *reinterpret_cast<Vector*>(to) = v; }
  static void pin(Vector&) {}
};

}  // namespace hewn::kernels
