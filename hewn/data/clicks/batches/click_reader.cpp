#include "hewn/data/clicks/batches/click_reader.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace hewn::data {
namespace {

constexpr size_t kKept = 2;     // shuffled windows
constexpr size_t kBlock = 256;  // rows whose positions stay in the cache while all columns are copied

std::vector<uint32_t> rows_of(const GroupView& group, RowPart part) {
  std::vector<uint32_t> out;
  for (uint32_t row = 0; row < group.rows; ++row) {
    if (group.parts[row] == static_cast<uint8_t>(part)) out.push_back(row);
  }
  return out;
}

template <class T>
void copy_column(const char* column, const uint32_t* rows, const uint32_t* positions, size_t count,
                 size_t stride, int32_t* out) {
  const auto* values = reinterpret_cast<const T*>(column);
  for (size_t i = 0; i < count; ++i) out[positions[i] * stride] = static_cast<int32_t>(values[rows[i]]);
}

}  // namespace

ClickReader::ClickReader(const std::filesystem::path& cache, uint64_t seed, Parallel parallel)
    : cache_(cache), seed_(seed), parallel_(std::move(parallel)) {}

uint64_t ClickReader::rows(RowPart part) const {
  uint64_t sum = 0;
  for (const CacheGroup& group : cache_.groups()) sum += group.parts[static_cast<size_t>(part)];
  return sum;
}

void ClickReader::copy(const GroupView& group, const std::vector<uint32_t>& rows, const uint32_t* positions,
                       int32_t* numbers, float* labels) const {
  const std::vector<CacheField>& fields = cache_.fields();
  const size_t stride = fields.size();
  for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
    const size_t count = std::min(kBlock, rows.size() - begin);
    const uint32_t* from = rows.data() + begin;
    const uint32_t* to = positions + begin;
    for (size_t i = 0; i < count; ++i) labels[to[i]] = static_cast<float>(group.labels[from[i]]);
    for (size_t f = 0; f < stride; ++f) {
      if (fields[f].width == 1) copy_column<uint8_t>(group.columns[f], from, to, count, stride, numbers + f);
      if (fields[f].width == 2) copy_column<uint16_t>(group.columns[f], from, to, count, stride, numbers + f);
      if (fields[f].width == 4) copy_column<uint32_t>(group.columns[f], from, to, count, stride, numbers + f);
    }
  }
}

void ClickReader::fill(Shuffled& out) const {
  const Window& window = windows_[out.window];
  const std::vector<uint32_t> positions = window_positions(window, out.window, seed_, out.epoch);
  out.numbers.resize(window.rows * cache_.fields().size());
  out.labels.resize(window.rows);
  std::vector<uint64_t> begins(window.groups.size());
  uint64_t begin = 0;
  for (size_t g = 0; g < begins.size(); ++g) {
    begins[g] = begin;
    begin += cache_.groups()[window.groups[g]].parts[static_cast<size_t>(RowPart::kTrain)];
  }
  parallel_(begins.size(), [&](size_t g) {
    const GroupView group = cache_.group(window.groups[g]);
    copy(group, rows_of(group, RowPart::kTrain), positions.data() + begins[g], out.numbers.data(),
         out.labels.data());
  });
}

const ClickReader::Shuffled& ClickReader::shuffled(uint64_t epoch, size_t window) {
  for (const Shuffled& one : ready_) {
    if (one.epoch == epoch && one.window == window) return one;
  }
  Shuffled next;
  if (ready_.size() == kKept) {  // takes over its memory
    next = std::move(ready_.front());
    ready_.pop_front();
  }
  next.epoch = epoch;
  next.window = window;
  fill(next);
  ready_.push_back(std::move(next));
  return ready_.back();
}

void ClickReader::train_rows(uint64_t epoch, uint64_t begin, uint64_t count, int32_t* numbers,
                             float* labels) {
  if (epoch != epoch_) {
    windows_ = epoch_windows(cache_.groups(), seed_, epoch);
    epoch_ = epoch;
  }
  const size_t stride = cache_.fields().size();
  const auto behind = [](uint64_t position, const Window& window) { return position < window.begin; };
  auto window = static_cast<size_t>(std::upper_bound(windows_.begin(), windows_.end(), begin, behind) -
                                    windows_.begin());
  for (--window; count > 0; ++window) {
    const Shuffled& from = shuffled(epoch, window);
    const uint64_t first = begin - windows_[window].begin;
    const uint64_t part = std::min(count, windows_[window].rows - first);
    std::memcpy(numbers, from.numbers.data() + first * stride, part * stride * sizeof(int32_t));
    std::memcpy(labels, from.labels.data() + first, part * sizeof(float));
    numbers += part * stride;
    labels += part;
    begin += part;
    count -= part;
  }
}

void ClickReader::part_rows(RowPart part, uint64_t begin, uint64_t count, int32_t* numbers,
                            float* labels) const {
  const size_t stride = cache_.fields().size();
  std::vector<uint32_t> positions;
  for (size_t g = 0; count > 0; ++g) {
    const uint64_t here = cache_.groups()[g].parts[static_cast<size_t>(part)];
    if (begin >= here) {
      begin -= here;
      continue;
    }
    const GroupView group = cache_.group(g);
    const std::vector<uint32_t> all = rows_of(group, part);
    const uint64_t take = std::min(count, here - begin);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<uint32_t> rows(first, first + static_cast<std::ptrdiff_t>(take));
    positions.resize(take);
    std::iota(positions.begin(), positions.end(), 0);
    copy(group, rows, positions.data(), numbers, labels);
    numbers += take * stride;
    labels += take;
    count -= take;
    begin = 0;
  }
}

}  // namespace hewn::data
