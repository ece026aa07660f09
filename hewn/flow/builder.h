#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hewn/core/share.h"
#include "hewn/flow/plan.h"

namespace hewn::flow {

/// How the pixels of values must lie so that steps can walk them together.
class Pitches {
 public:
  explicit Pitches(size_t values)
      : parent_(values), border_(values, 0), height_(values, 1), width_(values, 1), by_lines_(values, false) {
    for (size_t i = 0; i < values; ++i) parent_[i] = static_cast<int32_t>(i);
  }

  /// A value of such images.
  void add(int32_t value, int64_t height, int64_t width) {
    const auto i = static_cast<size_t>(root(value));
    height_[i] = std::max(height_[i], height);
    width_[i] = std::max(width_[i], width);
  }
  /// Both have their pixels at the same places.
  void join(int32_t a, int32_t b) {
    const auto to = static_cast<size_t>(root(a));
    const auto from = static_cast<size_t>(root(b));
    if (to == from) return;
    parent_[from] = static_cast<int32_t>(to);
    border_[to] = std::max(border_[to], border_[from]);
    by_lines_[to] = by_lines_[to] || by_lines_[from];
    height_[to] = std::max(height_[to], height_[from]);
    width_[to] = std::max(width_[to], width_[from]);
  }
  /// Someone reads so many pixels beyond the edges.
  void need(int32_t value, int64_t border) {
    auto& known = border_[static_cast<size_t>(root(value))];
    known = std::max(known, border);
  }
  /// Someone moves whole lines of all images at once.
  void lay_by_lines(int32_t value) { by_lines_[static_cast<size_t>(root(value))] = true; }
  int64_t border(int32_t value) { return border_[static_cast<size_t>(root(value))]; }
  Planes planes(int32_t value, int64_t channels, int64_t images, int64_t height, int64_t width) {
    const auto i = static_cast<size_t>(root(value));
    const int64_t border = border_[i];
    const int64_t pitch = width_[i] + border;
    const bool by_lines = images > 1 && (by_lines_[i] || border * kFewLines > height_[i]);
    const int64_t line = by_lines ? images * pitch : pitch;
    const int64_t plane = by_lines ? pitch : (height_[i] + border) * pitch;
    return planes_of(channels, images, height, width, line, plane, border * (line + 1));
  }

 private:
  // In images of fewer lines than that for one of their border, products would take too long over lines
  // between one image and the next: so the lines of all images lie side by side.
  static constexpr int64_t kFewLines = 32;

  int32_t root(int32_t i) {
    while (parent_[static_cast<size_t>(i)] != i) i = parent_[static_cast<size_t>(i)];
    return i;
  }

  std::vector<int32_t> parent_;
  std::vector<int64_t> border_;
  std::vector<int64_t> height_;
  std::vector<int64_t> width_;
  std::vector<bool> by_lines_;
};

struct FoundAttention;

/// Puts a plan together. Each value has a slot row-major, a slot in planes, or both, made when it is first
/// asked for.
class Builder {
 public:
  Builder(const Special& special, WeightCache& cache);

  const Graph& graph() const { return special_.graph; }
  const Spec& spec(int32_t value) const { return special_.specs[static_cast<size_t>(value)]; }
  const Tensor* constant(int32_t value) const { return special_.graph.constant(value); }
  /// Nodes and outputs that read a value.
  int32_t uses(int32_t value) const { return uses_[static_cast<size_t>(value)]; }
  /// The one node that reads it, or kNone.
  int32_t only_reader(int32_t value) const;
  /// The last of the nodes that read it, and the one that makes it; kNone where there is none.
  int32_t last_reader(int32_t value) const { return reader_[static_cast<size_t>(value)]; }
  int32_t maker(int32_t value) const { return makers_[static_cast<size_t>(value)]; }

  int64_t rank(int32_t value) const { return static_cast<int64_t>(spec(value).dims.size()); }
  int64_t last_axis(int32_t value) const { return rank(value) - 1; }
  /// Which node it is whose steps leave the value in planes, by the axis of its channels: 1 of images, else
  /// the last. Said before anything is lowered.
  void mark(int32_t value, int64_t axis);
  /// That axis, or -1: it will be row-major.
  int64_t marked(int32_t value) const;
  Planes planes(int32_t value, int64_t axis);
  Pitches& pitches() { return pitches_; }
  /// Whether a step left it in such planes.
  bool in_planes(int32_t value, int64_t axis) const {
    return planes_slot_.count({value, axis}) > 0 || in_words(value, axis);
  }
  bool in_words(int32_t value, int64_t axis) const { return words_slot_.count({value, axis}) > 0; }
  /// How it is held in 8 bits, or null.
  const kernels::ByteScale* bytes(int32_t value) const;
  /// Whether it is held in bf16, as pairs, where this machine computes with them.
  bool halves(int32_t value) const;
  /// Whether both are held in fewer bits of one kind.
  bool held_alike(int32_t a, int32_t b) const;
  /// What stands between the pixels of its words.
  uint32_t blank_word(int32_t value) const;
  /// The planes of its words: a row for every four channels, or two of bf16.
  Planes word_planes(int32_t value, int64_t axis);

  /// Slots of values that are there; a step that brings it into the form is added where it is not in it yet.
  int32_t plain(int32_t value);
  int32_t rows(int32_t value, int64_t axis, bool bordered = false);
  int32_t words(int32_t value, int64_t axis, bool bordered = false);
  /// Slots of values that a step is about to make.
  int32_t new_plain(int32_t value);
  int32_t new_rows(int32_t value, int64_t axis);
  int32_t new_words(int32_t value, int64_t axis);
  /// In the planes of a value that nobody needs any more.
  int32_t rows_over(int32_t value, int64_t axis, int32_t slot);
  /// The value lies where another one does.
  void same_rows(int32_t value, int64_t axis, int32_t slot) { planes_slot_[{value, axis}] = slot; }
  void same_plain(int32_t value, int32_t slot) { plain_slot_[value] = slot; }
  const Slot& slot(int32_t number) const { return plan.slots[static_cast<size_t>(number)]; }
  void set_bordered(int32_t number, bool bordered) {
    plan.slots[static_cast<size_t>(number)].bordered = bordered;
  }
  /// Memory for a step itself.
  int32_t scratch(size_t bytes);
  /// Whether a slot may be written over by the step that reads it for `value`.
  bool free_after(int32_t value, int32_t slot) const;
  /// Whether it may be written over by the node that is lowered and takes `reader` along: nobody else reads
  /// it from there on, nor that node itself.
  bool last_read(int32_t value, int32_t slot, int32_t reader) const;

  void add(Step step) { plan.steps.push_back(std::move(step)); }
  std::shared_ptr<const Weight> weight(const Tensor& tensor, WeightKind kind, int64_t groups) {
    return cache_.get(tensor, kind, groups);
  }
  std::shared_ptr<const ByteWeights> byte_weights(const Tensor& tensor, const WeightBytes& bytes,
                                                  WeightKind kind, int64_t groups) {
    return cache_.get_bytes(tensor, bytes, kind, groups);
  }
  std::shared_ptr<const PairWeights> pair_weights(const Tensor& tensor, WeightKind kind, int64_t groups) {
    return cache_.get_pairs(tensor, kind, groups);
  }

  Plan plan;
  int32_t lowering = 0;                                                // the node whose steps are added
  std::vector<bool> done;                                              // nodes that another one took along
  std::vector<bool> deferred;                                          // nodes that a later one will do
  std::map<int32_t, std::shared_ptr<const FoundAttention>> attention;  // by the node that ends it

 private:
  int32_t new_slot(Slot slot);
  bool owns(int32_t slot) const;
  /// Adds the steps between words and floats.
  int32_t rows_of_words(int32_t value, int64_t axis);
  void add_to_words(int32_t value, int64_t axis, int32_t to, bool bordered);

  const Special& special_;
  WeightCache& cache_;
  std::vector<int32_t> uses_;
  std::vector<int32_t> reader_;
  std::vector<int32_t> makers_;
  Pitches pitches_;
  std::map<int32_t, int32_t> plain_slot_;
  std::map<std::pair<int32_t, int64_t>, int32_t> planes_slot_;
  std::map<std::pair<int32_t, int64_t>, int32_t> words_slot_;
  std::map<int32_t, int64_t> marks_;
};

/// Whether a node can run on planes, and what that asks of how its values lie. All nodes are asked, in order,
/// before any is lowered.
bool wants_planes(Builder& builder, const Node& node);
/// Adds the steps of the node at this place of the graph.
void lower(Builder& builder, int32_t node);

// One for each kind of node that runs on planes, in lower/. The first say whether they can, and ask for
// borders; the others add steps.
bool plans_conv(Builder& builder, const Node& node);
/// The same where input and output are held in words: taps then read one plane of all.
bool plans_conv_of_words(Builder& builder, const Node& node);
void lower_conv(Builder& builder, int32_t node);
bool plans_bytes(Builder& builder, const Node& node);
void lower_bytes(Builder& builder, int32_t node);
bool plans_pairs(Builder& builder, const Node& node);
void lower_pairs(Builder& builder, int32_t node);
bool plans_byte_pool(Builder& builder, const Node& node);
void lower_byte_pool(Builder& builder, int32_t node);
bool plans_product(Builder& builder, const Node& node);
void lower_product(Builder& builder, int32_t node);
bool plans_elementwise(Builder& builder, const Node& node);
void lower_elementwise(Builder& builder, int32_t node);
bool plans_pool(Builder& builder, const Node& node);
void lower_pool(Builder& builder, int32_t node);
bool plans_norm(Builder& builder, const Node& node);
void lower_norm(Builder& builder, int32_t node);
bool plans_channels(Builder& builder, const Node& node);
void lower_channels(Builder& builder, int32_t node);
bool plans_attention(Builder& builder, const Node& node);
void lower_attention(Builder& builder, int32_t node);
/// Fills builder.attention; nodes that are part of it are done. Before anything is marked.
void find_attention(Builder& builder);
/// Row-major, by the operator itself or a faster form of it.
void lower_plain(Builder& builder, int32_t node);

}  // namespace hewn::flow
