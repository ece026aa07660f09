#include <algorithm>

#include "hewn/flow/plan.h"

namespace hewn::flow {

void place_slots(Plan& plan) {
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const auto use = [&](int32_t slot) {
      Slot& used = plan.slots[static_cast<size_t>(slot)];
      if (used.first < 0) used.first = static_cast<int32_t>(s);
      used.last = static_cast<int32_t>(s);
    };
    for (const int32_t slot : plan.steps[s].reads) use(slot);
    for (const int32_t slot : plan.steps[s].writes) use(slot);
  }
  for (const int32_t output : plan.outputs) {
    plan.slots[static_cast<size_t>(output)].last = static_cast<int32_t>(plan.steps.size());
  }
  std::vector<Slot*> order;
  for (Slot& slot : plan.slots) {
    if (slot.constant == nullptr && slot.input == kNone && slot.first >= 0) order.push_back(&slot);
  }
  // Large ones first; among slots that live at the same time each takes the lowest gap that fits.
  std::stable_sort(order.begin(), order.end(),
                   [](const Slot* a, const Slot* b) { return a->bytes > b->bytes; });
  std::vector<Slot*> placed;
  for (Slot* slot : order) {
    size_t offset = 0;
    for (const Slot* other : placed) {  // in order of their offsets
      const bool together = other->first <= slot->last && slot->first <= other->last;
      if (!together) continue;
      if (offset + slot->bytes <= other->offset) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    slot->offset = offset;
    plan.bytes = std::max(plan.bytes, offset + slot->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), slot,
                                   [](const Slot* a, const Slot* b) { return a->offset < b->offset; }),
                  slot);
  }
}

std::shared_ptr<const Weight> WeightCache::get(const Tensor& tensor, WeightKind kind, int64_t groups) {
  const std::pair<const void*, int64_t> key = {tensor.identity(), static_cast<int64_t>(kind) + 4 * groups};
  const auto known = weights_.find(key);
  if (known != weights_.end()) return known->second.weight;
  // Constants that were folded for one shape go with its plan.
  std::erase_if(weights_, [](const auto& entry) { return !entry.second.tensor.shared(); });
  std::shared_ptr<const Weight> weight = pack_weight(tensor, kind, groups, block_);
  weights_[key] = {tensor, weight};
  return weight;
}

}  // namespace hewn::flow
