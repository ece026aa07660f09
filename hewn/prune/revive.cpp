#include "hewn/prune/revive.h"

#include <algorithm>

#include "hewn/prune/reachability.h"
#include "hewn/prune/support.h"

namespace hewn::prune {

void revive(std::vector<Layer>& layers, const Plan& plan, const std::vector<std::string>& chain,
            const Execution& execution) {
  std::vector<ChainLink> links;
  std::vector<Layer*> pruned;  // the layer of each link, null where it is dense
  for (const std::string& name : chain) {
    const auto planned = std::find_if(plan.layers.begin(), plan.layers.end(),
                                      [&](const LayerPlan& layer) { return layer.name == name; });
    if (planned == plan.layers.end()) return;
    const auto layer =
        std::find_if(layers.begin(), layers.end(), [&](const Layer& some) { return some.name == name; });
    links.push_back({name, planned->grid, {}});
    pruned.push_back(layer == layers.end() ? nullptr : &*layer);
    if (layer != layers.end()) links.back().kept = blocks_of(planned->grid, layer->support).flags();
  }
  const std::vector<std::vector<uint8_t>> before = [&] {
    std::vector<std::vector<uint8_t>> out;
    for (const ChainLink& link : links) out.push_back(link.kept);
    return out;
  }();
  give_to_live_blocks(links, [&](size_t link) {
    const Layer& layer = *pruned[link];
    const at::Tensor values = layer.score->importance(layer.weight).to(at::kCPU, at::kDouble).contiguous();
    return std::vector<double>(values.data_ptr<double>(), values.data_ptr<double>() + values.numel());
  });
  for (size_t i = 0; i < links.size(); ++i) {
    if (links[i].kept == before[i]) continue;
    const at::Tensor support = support_of(LayerBlocks::of_flags(links[i].grid, links[i].kept));
    pruned[i]->set_support(support.to(pruned[i]->weight.leaf.device()), execution);
  }
}

}  // namespace hewn::prune
