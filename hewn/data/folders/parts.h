#pragma once

#include <cstddef>
#include <vector>

#include "hewn/data/clicks/options.h"
#include "hewn/data/folders/listing.h"
#include "hewn/data/kind.h"

namespace hewn::data {

/// Numbers of the images (ImageListing) that are trained with and of those that are evaluated.
struct ImageParts {
  std::vector<size_t> train;
  std::vector<size_t> held_out;
};

/// The parts that the folders say or, where these are classes only, those of test-share and validation-share:
/// then an image's part follows from its path, and other images do not matter. Throws Error where there is no
/// such part, or nothing in one.
ImageParts image_parts(const ImageListing& images, const ClickOptions& shares, Part evaluate_on);

}  // namespace hewn::data
