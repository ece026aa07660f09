// Instruction sets of the tile loop. With Highway this file includes itself once per set.
#include "hewn/kernels/tile.h"

#include "hewn/kernels/simd/portable.h"

#if HEWN_HIGHWAY

// The sets in between add compile time and no speed; vectors of SVE have no size, so that there are no arrays
// of them.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
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
  // 32 registers (AVX-512, NEON) hold 8 x 3 or 4 x 6 sums, 16 (AVX2, SSE) hold 4 x 3. Batches are multiples
  // of 32 more often than of 48.
  static constexpr int64_t kPanelWidth = kLanes == 16 ? 32 : 24;
  static constexpr int64_t kStripWidth = kLanes == 16 ? 48 : 24;
  static constexpr int kTileOutputs = kLanes == 16 ? 8 : 4;

  static HWY_INLINE Vector set(float value) { return hn::Set(Full(), value); }
  static HWY_INLINE Vector load(const float* from) { return hn::LoadU(Full(), from); }
  /// Repeats inputs over the outputs of their rows. Eight rows are four vectors of weights where a vector
  /// holds two rows: one load and four permutations, where two broadcasts a vector would keep the load units
  /// busy.
  class Spread {
   public:
    HWY_INLINE Spread() {
      if constexpr (kLanes > kTileOutputs) {
        for (int32_t chain = 0; chain < 4; ++chain) {
          HWY_ALIGN int32_t lanes[static_cast<size_t>(kLanes)];
          for (int64_t i = 0; i < kLanes; ++i) {
            lanes[i] = 2 * chain + static_cast<int32_t>(i / kTileOutputs);
          }
          index_[chain] = hn::SetTableIndices(Full(), lanes);
        }
      }
    }
    template <class Wide = Full>  // a template, so that only the branch that fits is compiled
    HWY_INLINE Vector load(const float* in) const {
      if constexpr (kLanes > kColumnStep) {
        return load_lower<Wide>(in);
      } else {
        return hn::LoadU(Wide(), in);
      }
    }
    HWY_INLINE Vector rows(Vector x, int chain) const {
      if constexpr (kLanes > kTileOutputs) {
        return hn::TableLookupLanes(x, index_[chain]);
      } else {
        return hn::TableLookupLanes(x, hn::SetTableIndices(Full(), kSame + int64_t{4} * chain));
      }
    }

   private:
    static constexpr int32_t kSame[16] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    decltype(hn::SetTableIndices(Full(), static_cast<const int32_t*>(nullptr))) index_[4];
  };
  /// The sum of a vector's rows: one value per output.
  template <class Wide = Full>
  static HWY_INLINE auto fold(hn::Vec<Wide> v) {
    if constexpr (kLanes > kTileOutputs) {
      const hn::Half<Wide> half;
      return hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v));
    } else {
      return v;
    }
  }
  template <class Wide = Full>
  static HWY_INLINE auto load_folded(const float* from) {
    if constexpr (kLanes > kTileOutputs) {
      return hn::LoadU(hn::Half<Wide>(), from);
    } else {
      return hn::LoadU(Wide(), from);
    }
  }
  /// One value per row of a vector of weights.
  static HWY_INLINE Vector spread(const float* in) {
    if constexpr (kLanes == kTileOutputs) {
      return hn::Set(Full(), in[0]);
    } else {
      const hn::Half<Full> half;
      return hn::Combine(Full(), hn::Set(half, in[1]), hn::Set(half, in[0]));
    }
  }
  static HWY_INLINE Vector spread_one(float in) {
    if constexpr (kLanes == kTileOutputs) {
      return hn::Set(Full(), in);
    } else {
      const hn::Half<Full> half;
      return hn::Combine(Full(), hn::Zero(half), hn::Set(half, in));
    }
  }
  static HWY_INLINE Half load_half(const float* from) { return hn::LoadU(Lower(), from); }
  /// Half a vector, as the lower half of a full one; and that half again.
  template <class Wide = Full>
  static HWY_INLINE auto load_lower(const float* from) {
    return hn::ZeroExtendVector(Wide(), hn::LoadU(hn::Half<Wide>(), from));
  }
  template <class Wide = Full>
  static HWY_INLINE auto lower(hn::Vec<Wide> v) {
    return hn::LowerHalf(hn::Half<Wide>(), v);
  }
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
  static HWY_INLINE void pin([[maybe_unused]] V& v) {
#if HWY_ARCH_X86
    asm("" : "+v"(v.raw));
#endif
  }
};
#endif

#define HEWN_SIMD_ATTRIBUTE HWY_ATTR
#define HEWN_SIMD_EIGHT (HWY_TARGET != HWY_SCALAR && HWY_MAX_BYTES >= 32)
#include "hewn/kernels/simd/gather-inl.h"
#include "hewn/kernels/simd/tile-inl.h"
#include "hewn/kernels/simd/transpose-inl.h"
#undef HEWN_SIMD_EIGHT
#undef HEWN_SIMD_ATTRIBUTE

HWY_ATTR void run_tile(const TileArguments& arguments) { tile_of_any<Simd>(arguments); }
HWY_ATTR void run_gather(const float* in, const int32_t* rows, int64_t count, int64_t columns, float* panel) {
  gather_any<Simd>(in, rows, count, columns, panel);
}
HWY_ATTR void run_tile_of_one(const TileArguments& arguments) { tile_of_one<Simd>(arguments); }

Machine describe() {
  return {hwy::TargetName(HWY_TARGET), Simd::kLanes, Simd::kPanelWidth, Simd::kStripWidth,
          Simd::kTileOutputs,          &run_tile,    &run_tile_of_one,  &transpose_rows,
          &transpose_columns,          &run_gather};
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
#define HEWN_SIMD_EIGHT 0
#include "hewn/kernels/simd/gather-inl.h"
#include "hewn/kernels/simd/tile-inl.h"
#include "hewn/kernels/simd/transpose-inl.h"
#undef HEWN_SIMD_EIGHT
#undef HEWN_SIMD_ATTRIBUTE

}  // namespace

const Machine& machine() {
  static const Machine portable = {"portable",
                                   PortableSimd::kLanes,
                                   PortableSimd::kPanelWidth,
                                   PortableSimd::kStripWidth,
                                   PortableSimd::kTileOutputs,
                                   &tile_of_any<PortableSimd>,
                                   &tile_of_one<PortableSimd>,
                                   &transpose_rows,
                                   &transpose_columns,
                                   &gather_any<PortableSimd>};
  return portable;
}
int machine_count() { return 1; }
const Machine& machine_at(int) { return machine(); }

}  // namespace hewn::kernels

#endif
