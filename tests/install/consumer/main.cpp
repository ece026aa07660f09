// Prunes a network of its own with the installed library: one training step in each phase, then folds the
// gate.
#include <hewn/hewn.h>
#include <torch/nn/modules/linear.h>

#include <iostream>

int main() {
  torch::nn::Linear layer(64, 64);
  const auto slots = hewn::nn::find_slots(*layer);
  const auto plan = hewn::prune::make_plan(hewn::nn::weight_shapes(slots), {{4, 4}, 0.75, 100, {"*"}});
  hewn::prune::Recipe recipe = hewn::prune::find_recipe("sa++");
  recipe.schedule = "sa++/imagenet";
  hewn::prune::Pruner pruner(slots, plan, recipe, 40);
  for (int step = 0; step < 40; ++step) {
    pruner.before_forward(step);
    layer->forward(torch::ones({2, 64})).sum().backward();
  }
  pruner.fold();
  const auto zeros = (layer->weight == 0).sum().item<int64_t>();
  std::cout << zeros << " of " << layer->weight.numel() << " weights are zero\n";
  return zeros == 64 * 64 * 3 / 4 ? 0 : 1;
}
