#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hewn/flow/passes/specialise.h"
#include "hewn/flow/planes.h"
#include "hewn/flow/weights.h"
#include "hewn/kernels/int8/byte_weight.h"
#include "hewn/kernels/matrix/matrix_weight.h"

namespace hewn::flow {

/// Memory of one tensor while it is needed.
struct Slot {
  Spec spec;
  std::optional<Planes> planes;    // else row-major
  bool bordered = false;           // what is not a pixel is zero
  const void* constant = nullptr;  // not in the plan's memory
  int32_t input = kNone;           // the graph's: in the user's memory
  size_t bytes = 0;
  size_t offset = 0;
  int32_t first = -1;  // steps that write it first and use it last
  int32_t last = -1;
};

class Memory;

/// One pass over memory. Threads do the `part`-th of `parts` shares each; the result does not depend on how
/// many there are.
struct Step {
  std::string what;  // operator and name
  std::vector<int32_t> reads;
  std::vector<int32_t> writes;
  std::function<void(const Memory& memory, int64_t part, int64_t parts)> run;
  /// Makes what it needs besides, for so many places that run side by side. Empty: nothing.
  std::function<void(size_t places)> prepare = {};
  bool divides = true;    // else one thread does it all
  bool converts = false;  // between row-major and planes
  int64_t work = 0;       // multiply-adds, or as long
  int64_t weights = 0;    // bytes of weights that are read in every run
};

/// What a step took.
struct StepTime {
  std::string what;
  int64_t work = 0;    // multiply-adds, or as long
  double seconds = 0;  // of the thread that ran it
};

/// A graph made ready for inputs of one shape.
struct Plan {
  std::vector<Slot> slots;
  std::vector<Step> steps;
  std::vector<int32_t> inputs;   // slots
  std::vector<int32_t> outputs;  // slots, row-major
  std::vector<Spec> output_specs;
  std::vector<Tensor> constants;                  // that slots point to
  std::vector<std::shared_ptr<const void>> kept;  // what steps point to
  size_t bytes = 0;
  int64_t work = 0;
  bool single_samples = false;  // in a larger batch tokens of a sample would not lie side by side
};

/// Where slots are, in one of the places in which a plan runs side by side.
class Memory {
 public:
  Memory(const Plan& plan, size_t place, std::byte* arena, const std::vector<const void*>& inputs)
      : plan_(plan), place_(place), arena_(arena), inputs_(inputs) {}

  size_t place() const { return place_; }

  void* at(int32_t slot) const {
    const Slot& s = plan_.slots[static_cast<size_t>(slot)];
    if (s.constant != nullptr) return const_cast<void*>(s.constant);
    if (s.input != kNone) return const_cast<void*>(inputs_[static_cast<size_t>(s.input)]);
    return arena_ + s.offset;
  }
  float* floats(int32_t slot) const { return static_cast<float*>(at(slot)); }

 private:
  const Plan& plan_;
  size_t place_;
  std::byte* arena_;
  const std::vector<const void*>& inputs_;
};

/// The weights of bytes of each group.
using ByteWeights = std::vector<kernels::ByteWeight>;
/// Those of bf16.
using PairWeights = std::vector<kernels::MatrixWeight>;

/// Weights that were packed once, for all plans of a network.
class WeightCache {
 public:
  /// The size of the blocks that zeros are looked for in; 0: several.
  explicit WeightCache(int64_t block) : block_(block) {}
  std::shared_ptr<const Weight> get(const Tensor& tensor, WeightKind kind, int64_t groups);
  std::shared_ptr<const ByteWeights> get_bytes(const Tensor& tensor, const WeightBytes& bytes,
                                               WeightKind kind, int64_t groups);
  std::shared_ptr<const PairWeights> get_pairs(const Tensor& tensor, WeightKind kind, int64_t groups);

 private:
  int64_t block_;
  /// With its tensor: the address of one that is gone may be another's next.
  template <class T>
  struct Packed {
    Tensor tensor;
    std::shared_ptr<const T> weight;
  };
  std::map<std::pair<const void*, int64_t>, Packed<Weight>> weights_;
  std::map<std::pair<const void*, int64_t>, Packed<PairWeights>> pair_weights_;
  std::map<std::pair<const void*, int64_t>, std::shared_ptr<const ByteWeights>> byte_weights_;
};

/// Throws Error where the plan would need more than `most_bytes` of memory.
Plan make_plan(const Special& special, WeightCache& weights, size_t most_bytes);

/// Gives every slot a place in one piece of memory that is free from its first to its last use.
void place_slots(Plan& plan);

}  // namespace hewn::flow
