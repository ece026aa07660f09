#pragma once

#include <optional>
#include <vector>

#include "hewn/flow/graph.h"
#include "hewn/flow/weights.h"

namespace hewn::flow {

/// A node that multiplies by a constant matrix that can lose rows and columns.
struct Product {
  const Tensor* weight = nullptr;  // null: the node is none
  WeightKind kind = WeightKind::kConv;
  int64_t channels = 0;  // that it reads
  int64_t outputs = 0;
  bool padded = false;  // zeros are read beside the image
  bool biased = false;  // it can add numbers to its outputs

  /// Sums what a window has of a channel; `numbers` of it side by side are one.
  double sum(int64_t output, int64_t channel, int64_t numbers) const;
  bool reads(int64_t output, int64_t channel, int64_t numbers) const;

 private:
  const float* window(int64_t output, int64_t channel, int64_t& count, int64_t& stride) const;
};
Product product_of(const Graph& graph, const Node& node, const std::vector<int32_t>& uses);

/// Which channels the values of a graph have in common, which of them are constant and which are needed.
class Channels {
 public:
  explicit Channels(const Graph& graph);

  /// Whether a value's channels can go, and the group of values that have the same ones.
  bool movable(int32_t value) const;
  int32_t group(int32_t value) const;
  /// How many channels a group has.
  int64_t count(int32_t group) const { return groups_[static_cast<size_t>(group)].count; }
  /// How many numbers of a product's input belong to a channel, side by side.
  int64_t numbers(const Product& product, const Node& node) const;
  /// What a channel is for all inputs, where that is known.
  std::optional<float> constant(int32_t value, int64_t channel) const;
  bool needed(int32_t value, int64_t channel) const {
    return needed_[static_cast<size_t>(value)][static_cast<size_t>(channel)];
  }
  /// Whether a product can do without a channel that is this number.
  static bool can_fold(const Product& product, float number) {
    return number == 0 || (product.biased && !product.padded);
  }
  const std::vector<Product>& products() const { return products_; }  // one for each node

 private:
  struct Group {
    int32_t parent = kNone;
    int64_t count = 0;
    bool pinned = false;
    int axis = 0;  // 1: images, -1: the last of any number, 0: rows, where both are the same
  };
  struct Link {
    int32_t group = kNone;
    bool flat = false;  // the numbers of a channel stand side by side
  };

  void link(const Node& node, const Product& product);
  void link_product(const Node& node, const Product& product);
  bool link_along(const Node& node);
  bool link_add(const Node& node);
  void find_constants(const Node& node, const Product& product);
  void find_needed(const Node& node, const Product& product);
  int32_t root(int32_t group) const;
  void pin(int32_t value);
  int32_t new_group(int64_t count, int axis);
  Link& at(int32_t value) { return links_[static_cast<size_t>(value)]; }

  const Graph& graph_;
  std::vector<Product> products_;
  std::vector<Group> groups_;
  std::vector<Link> links_;
  std::vector<std::vector<float>> constants_;  // NaN where a channel is not known
  std::vector<std::vector<bool>> needed_;
};

/// Whether an operator works on every number for itself, and on 0 gives 0.
bool keeps_zeros(const Node& node);

}  // namespace hewn::flow
