#pragma once

#include <cstdint>
#include <cstring>

#include "hewn/kernels/tile.h"

namespace hewn::kernels {

/// Vectors as the compiler offers them, for whatever instructions it was told to use. The fallback where
/// Highway is not installed or knows no instructions for this CPU.
struct PortableSimd {
  using Vector = float __attribute__((vector_size(32)));
  using Half = Vector;
  static constexpr int64_t kLanes = 8;
  static constexpr int64_t kPanelWidth = 8;
  static constexpr int64_t kStripWidth = 8;
  static constexpr int kTileOutputs = 4;

  static Vector set(float v) { return Vector{v, v, v, v, v, v, v, v}; }
  static Vector load(const float* from) { return read<Vector>(from); }
  using Folded = float __attribute__((vector_size(16)));
  static Folded fold(const Vector& v) { return Folded{v[0] + v[4], v[1] + v[5], v[2] + v[6], v[3] + v[7]}; }
  static Folded load_folded(const float* from) { return read<Folded>(from); }
  static Folded plus(const Folded& a, const Folded& b) { return a + b; }
  static Folded relu(const Folded& v) { return v > 0.0F ? v : Folded{}; }
  static void store(const Folded& v, float* to) { std::memcpy(to, &v, sizeof(v)); }
  struct Spread {
    static const float* load(const float* in) { return in; }
    static Vector rows(const float* in, int chain) { return spread(in + int64_t{2} * chain); }
  };
  static Vector spread(const float* in) {
    return Vector{in[0], in[0], in[0], in[0], in[1], in[1], in[1], in[1]};
  }
  static Vector spread_one(float in) { return Vector{in, in, in, in, 0, 0, 0, 0}; }
  static Vector load_half(const float* from) { return load(from); }
  static void multiply_add(const Vector& a, const Vector& b, Vector& sum) { sum += a * b; }
  static Vector plus(const Vector& a, const Vector& b) { return a + b; }
  static Vector relu(const Vector& v) { return v > 0.0F ? v : Vector{}; }
  static void store(const Vector& v, float* to) { std::memcpy(to, &v, sizeof(v)); }
  static void pin(Vector&) {}

 private:
  /// From wherever it lies: memory is aligned for floats, not for vectors.
  template <class V>
  static V read(const float* from) {
    V v;
    std::memcpy(&v, from, sizeof(v));
    return v;
  }
};

}  // namespace hewn::kernels
