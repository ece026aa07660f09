// Instruction sets of the tile loop. With Highway this file includes itself once per set.
#include "hewn/kernels/tile.h"

#include "hewn/kernels/simd/portable.h"

#if HEWN_HIGHWAY

// The sets in between add compile time and no speed.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hewn/kernels/tile.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hewn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
using Simd = PortableSimd;
#else
struct Simd {
  using Full = hn::ScalableTag<float>;
  using Lower = hn::CappedTag<float, kColumnStep>;
  using Vector = hn::Vec<Full>;
  using Half = hn::Vec<Lower>;
  static constexpr int64_t kLanes = HWY_MAX_BYTES / sizeof(float);
  // 32 registers (AVX-512, NEON) hold 8 x 2 or 4 x 6 sums, 16 (AVX2, SSE) hold 4 x 3.
  static constexpr int64_t kPanelWidth = kLanes == 16 ? 32 : 24;
  static constexpr int kTileOutputs = kLanes == 16 ? 8 : 4;

  static HWY_INLINE Vector set(float value) { return hn::Set(Full(), value); }
  static HWY_INLINE Half set_half(float value) { return hn::Set(Lower(), value); }
  static HWY_INLINE Vector load(const float* from) { return hn::LoadU(Full(), from); }
  static HWY_INLINE Half load_half(const float* from) { return hn::LoadU(Lower(), from); }
  template <class V>
  static HWY_INLINE void multiply_add(V a, V b, V& sum) {
    sum = hn::MulAdd(a, b, sum);
  }
  template <class V>
  static HWY_INLINE V plus(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static HWY_INLINE V relu(V v) {
    return hn::Max(v, hn::Zero(hn::DFromV<V>()));
  }
  template <class V>
  static HWY_INLINE void store(V v, float* to) {
    hn::StoreU(v, hn::DFromV<V>(), to);
  }
  template <class V>
  static HWY_INLINE void pin(V& v) {
#if HWY_ARCH_X86
    asm("" : "+v"(v.raw));
#endif
  }
};
#endif

#define HEWN_SIMD_ATTRIBUTE HWY_ATTR
#include "hewn/kernels/simd/tile-inl.h"
#undef HEWN_SIMD_ATTRIBUTE

HWY_ATTR void run_tile(const TileArguments& arguments) { tile_of_any<Simd>(arguments); }
HWY_ATTR void run_tile_of_one(const TileArguments& arguments) { tile_of_one<Simd>(arguments); }

Machine describe() {
  return {hwy::TargetName(HWY_TARGET), Simd::kPanelWidth, Simd::kTileOutputs, &run_tile, &run_tile_of_one};
}

}  // namespace

Machine machine_here() { return describe(); }

}  // namespace hewn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <vector>

namespace hewn::kernels {
namespace {

HWY_EXPORT(machine_here);

/// All supported sets, the fastest first.
const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = [] {
    std::vector<Machine> out;
    const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    for (int64_t left = targets; left != 0; left &= left - 1) {
      hwy::SetSupportedTargetsForTest(left & -left);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      out.push_back(HWY_DYNAMIC_DISPATCH(machine_here)());
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return out;
  }();
  return all;
}

}  // namespace

const Machine& machine() { return machines().front(); }
int machine_count() { return static_cast<int>(machines().size()); }
const Machine& machine_at(int index) { return machines().at(static_cast<size_t>(index)); }

}  // namespace hewn::kernels
#endif  // HWY_ONCE

#else  // without Highway

namespace hewn::kernels {
namespace {

#define HEWN_SIMD_ATTRIBUTE
#include "hewn/kernels/simd/tile-inl.h"
#undef HEWN_SIMD_ATTRIBUTE

}  // namespace

const Machine& machine() {
  static const Machine portable = {"portable", PortableSimd::kPanelWidth, PortableSimd::kTileOutputs,
                                   &tile_of_any<PortableSimd>, &tile_of_one<PortableSimd>};
  return portable;
}
int machine_count() { return 1; }
const Machine& machine_at(int) { return machine(); }

}  // namespace hewn::kernels

#endif
