#pragma once

#include "hewn/flow/builder.h"
#include "hewn/flow/lower/conv_shape.h"

namespace hewn::flow {

/// What comes behind a product of words and goes along with it.
struct WordTail {
  int32_t value;          // that the step makes
  int32_t add = kNone;    // slot of the words that are added
  int32_t added = kNone;  // value in it
  bool relu = false;
};
/// Of the node at this place. An add goes along where both sides and what comes out of it are held alike.
WordTail word_tail(Builder& builder, int32_t number, int64_t axis);

/// Adds the step that sorts the words which a strided convolution reads; returns its slot.
int32_t add_word_sorting(Builder& builder, const Node& node, const ConvShape& shape, const Planes& sorted,
                         const SortedTaps& taps);

/// Where the words lie that a convolution reads, and where its taps are; the sort is added where strides
/// need it.
struct WordWindow {
  int32_t in = kNone;
  Planes read;
  std::vector<int64_t> taps;
};
WordWindow word_window(Builder& builder, const Node& node, const ConvShape& shape);

}  // namespace hewn::flow
