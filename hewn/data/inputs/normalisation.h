#pragma once

#include <cstddef>
#include <vector>

namespace hewn::data {

/// (x / 255 - mean) / deviation as one multiplication and one addition, for each channel.
struct Normalisation {
  Normalisation(const std::vector<double>& mean, const std::vector<double>& deviation) {
    for (size_t c = 0; c < mean.size(); ++c) {
      scale.push_back(static_cast<float>(1 / (255 * deviation[c])));
      shift.push_back(static_cast<float>(-mean[c] / deviation[c]));
    }
  }

  std::vector<float> scale;
  std::vector<float> shift;
};

}  // namespace hewn::data
