#include "hewn/convex/groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "hewn/core/error.h"

namespace hewn::convex {
namespace {

std::vector<int> range(Index first, Index count) {
  std::vector<int> out(to_size(count));
  std::iota(out.begin(), out.end(), static_cast<int>(first));
  return out;
}

/// Rectangles of one group's entries: runs of neighbouring outputs that hold the same features.
std::vector<Part> rectangles(const std::vector<Index>& entries, Index outputs) {
  std::map<int, std::vector<int>> by_output;
  for (const Index entry : entries)
    by_output[static_cast<int>(entry % outputs)].push_back(static_cast<int>(entry / outputs));
  std::vector<Part> parts;
  for (auto& [output, features] : by_output) {
    std::sort(features.begin(), features.end());
    if (!parts.empty() && parts.back().first_output + parts.back().outputs == output &&
        parts.back().features == features) {
      ++parts.back().outputs;
    } else {
      parts.push_back({features, output, 1, 0});
    }
  }
  return parts;
}

}  // namespace

void Groups::add(std::vector<Part> parts) {
  Index offset = 0;
  for (Part& part : parts) {
    part.offset = offset;
    offset += part.size();
  }
  start_.push_back(start_.back() + offset);
  parts_.push_back(std::move(parts));
}

void Groups::finish() {
  weight_ = Vector::Ones(count());
  factor_ = Vector::Ones(count());
}

Groups Groups::features(Index features, Index outputs) {
  return sizes(std::vector<Index>(to_size(features), 1), outputs);
}

Groups Groups::sizes(const std::vector<Index>& sizes, Index outputs) {
  Groups out(std::accumulate(sizes.begin(), sizes.end(), Index{0}), outputs);
  Index first = 0;
  for (const Index size : sizes) {
    if (size < 1) throw Error(str("groups: expected sizes of at least 1, got ", size));
    out.add({{range(first, size), 0, static_cast<int>(outputs), 0}});
    first += size;
  }
  out.finish();
  return out;
}

Groups Groups::labels(const std::vector<std::string>& labels, Index outputs) {
  std::map<std::string, std::size_t> number;
  std::vector<std::vector<int>> members;
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const auto [at, is_new] = number.try_emplace(labels[j], members.size());
    if (is_new) members.emplace_back();
    members[at->second].push_back(static_cast<int>(j));
  }
  Groups out(to_index(labels.size()), outputs);
  for (std::vector<int>& features : members) {
    out.add({{std::move(features), 0, static_cast<int>(outputs), 0}});
  }
  out.finish();
  return out;
}

Groups Groups::blocks(Index features, Index outputs, Index rows, Index cols) {
  if (rows < 1 || cols < 1)
    throw Error(str("groups: expected blocks of at least 1x1, got ", rows, "x", cols));
  Groups out(features, outputs);
  for (Index j = 0; j < features; j += rows) {
    for (Index k = 0; k < outputs; k += cols) {
      out.add({{range(j, std::min(rows, features - j)), static_cast<int>(k),
                static_cast<int>(std::min(cols, outputs - k)), 0}});
    }
  }
  out.finish();
  return out;
}

Groups Groups::lists(Index features, Index outputs, const std::vector<std::vector<Index>>& lists) {
  std::vector<bool> seen(to_size(features * outputs), false);
  Groups out(features, outputs);
  for (std::size_t g = 0; g < lists.size(); ++g) {
    if (lists[g].empty()) throw Error(str("groups: group ", g, " is empty"));
    for (const Index entry : lists[g]) {
      if (entry < 0 || entry >= features * outputs) {
        throw Error(
            str("groups: group ", g, " has entry ", entry, ", expected 0 to ", features * outputs - 1));
      }
      if (seen[to_size(entry)]) throw Error(str("groups: entry ", entry, " is in more than one group"));
      seen[to_size(entry)] = true;
    }
    out.add(rectangles(lists[g], outputs));
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing != seen.end()) throw Error(str("groups: entry ", missing - seen.begin(), " is in no group"));
  out.finish();
  return out;
}

void Groups::set_weights(Vector weights) {
  if (weights.size() != count()) {
    throw Error(str("groups: expected ", count(), " weights, got ", weights.size()));
  }
  for (const double w : weights) {
    if (!(w >= 0) || std::isinf(w)) throw Error(str("groups: expected weights of at least 0, got ", w));
  }
  weight_ = std::move(weights);
}

Matrix Groups::spread(const Vector& values) const {
  Matrix out = Matrix::Zero(features_, outputs_);
  for (Index g = 0; g < count(); ++g) {
    for (const Part& part : parts(g)) {
      Index at = start(g) + part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) out(j, part.first_output + k) = values[at++];
      }
    }
  }
  return out;
}

Vector Groups::collect(const ConstView& matrix) const {
  Vector out(total());
  for (Index g = 0; g < count(); ++g) {
    for (const Part& part : parts(g)) {
      Index at = start(g) + part.offset;
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features) out[at++] = matrix(j, part.first_output + k);
      }
    }
  }
  return out;
}

Vector Groups::norms(const ConstView& matrix) const {
  Vector out(count());
  for (Index g = 0; g < count(); ++g) {
    double sum = 0;
    for (const Part& part : parts(g)) {
      for (int k = 0; k < part.outputs; ++k) {
        for (const int j : part.features)
          sum += matrix(j, part.first_output + k) * matrix(j, part.first_output + k);
      }
    }
    out[g] = std::sqrt(sum);
  }
  return out;
}

}  // namespace hewn::convex
