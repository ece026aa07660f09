#include "hewn/data/folders/parts.h"

#include <numeric>

#include "hewn/core/error.h"
#include "hewn/data/plumbing/hash.h"
#include "hewn/data/plumbing/split_position.h"

namespace hewn::data {
namespace {

std::vector<size_t> numbers_from(size_t first, size_t count) {
  std::vector<size_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

ImageParts divided(const ImageListing& images, const ClickOptions& shares, Part evaluate_on) {
  check(shares);
  ImageParts out;
  for (size_t i = 0; i < images.size(); ++i) {
    const double position = split_position(hash_text(images.path(i)));
    const bool test = position < shares.test_share;
    if (!test && position >= shares.test_share + shares.validation_share) {
      out.train.push_back(i);
    } else if (test == (evaluate_on == Part::kTest)) {
      out.held_out.push_back(i);
    }
  }
  const auto nothing = [&](const char* part, const char* what_to_do) {
    throw Error(
        str("data imagefolder: of ", images.size(), " images none is in the ", part, " part; ", what_to_do));
  };
  if (out.train.empty()) nothing("training", "lower test-share or validation-share");
  if (out.held_out.empty()) {
    if (evaluate_on == Part::kTest) nothing("test", "raise test-share");
    nothing("validation", "raise validation-share");
  }
  return out;
}

}  // namespace

ImageParts image_parts(const ImageListing& images, const ClickOptions& shares, Part evaluate_on) {
  if (images.whole) return divided(images, shares, evaluate_on);
  const size_t validation_begin = images.train.size();
  const size_t test_begin = validation_begin + images.validation.size();
  if (evaluate_on == Part::kTest) {
    return {numbers_from(0, validation_begin), numbers_from(test_begin, images.test.size())};
  }
  if (images.validation.size() == 0) {
    throw Error("data imagefolder: has no validation part; expected val and test beside train");
  }
  return {numbers_from(0, validation_begin), numbers_from(validation_begin, images.validation.size())};
}

}  // namespace hewn::data
