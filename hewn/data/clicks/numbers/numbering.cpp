#include "hewn/data/clicks/numbers/numbering.h"

#include <algorithm>
#include <atomic>

#include "hewn/data/clicks/numbers/value_map.h"
#include "hewn/data/clicks/rows/row_parser.h"
#include "hewn/data/plumbing/pipeline.h"

namespace hewn::data {
namespace {

// Values of a field that are counted at a time: a map of 2^24 entries, 12 bytes each, half as much again
// while it grows. Two such fields with full vocabularies were measured at 1.35 GB; more threads would need
// more.
constexpr size_t kEntries = size_t{23} << 19;
constexpr size_t kMostCounting = 2;

void write_vocabulary(const std::filesystem::path& path, const std::vector<CountedValue>& vocabulary) {
  OutputFile file(path, OutputFile::Mode::kCreate);
  std::vector<uint64_t> values;
  std::vector<uint32_t> counts;
  constexpr size_t kPiece = 65536;
  for (size_t begin = 0; begin < vocabulary.size(); begin += kPiece) {
    values.clear();
    for (size_t i = begin; i < std::min(begin + kPiece, vocabulary.size()); ++i)
      values.push_back(vocabulary[i].value);
    file.append(values.data(), values.size() * sizeof(uint64_t));
  }
  for (size_t begin = 0; begin < vocabulary.size(); begin += kPiece) {
    counts.clear();
    for (size_t i = begin; i < std::min(begin + kPiece, vocabulary.size()); ++i)
      counts.push_back(vocabulary[i].count);
    file.append(counts.data(), counts.size() * sizeof(uint32_t));
  }
}

std::filesystem::path numbers_file(const std::filesystem::path& folder, size_t field) {
  return folder / str("numbers-", field);
}

}  // namespace

Numbering::Numbering(const std::filesystem::path& folder, const std::filesystem::path& spool,
                     const std::vector<SpooledGroup>& groups)
    : folder_(folder), spool_(spool), groups_(groups) {
  const size_t fields = groups.empty() ? 0 : groups[0].shape.sizes.size();
  fields_.resize(fields);
  offsets_.resize(fields);
}

std::filesystem::path Numbering::vocabulary_file(size_t field) const {
  return folder_ / str("vocabulary-", field);
}

void Numbering::visit(size_t field, const VisitPiece& piece) const {
  std::vector<uint64_t> values;
  std::vector<uint32_t> counts;
  for (const SpooledGroup& group : groups_) {
    const size_t size = group.shape.sizes[field];
    values.resize(size);
    counts.resize(size);
    spool_.read_at(values.data(), size * sizeof(uint64_t), group.offset + group.shape.values_at(field));
    spool_.read_at(counts.data(), size * sizeof(uint32_t), group.offset + group.shape.counts_at(field));
    piece(values.data(), counts.data(), size);
  }
}

void Numbering::number_field(size_t field, const NumberingOptions& options) {
  FieldCounts& counts = fields_[field];
  ValueMap map;
  if (options.hash_size == 0) {
    const Vocabulary vocabulary =
        count_values([&](const VisitPiece& piece) { visit(field, piece); }, options.min_count, kEntries);
    counts = {kFirstNumber + vocabulary.values.size(), vocabulary.values.size(), vocabulary.distinct,
              vocabulary.missing, vocabulary.rare};
    map = ValueMap(vocabulary.values.size());
    uint32_t number = kFirstNumber;
    for (const CountedValue& value : vocabulary.values) map.insert(value.value, number++);
    write_vocabulary(vocabulary_file(field), vocabulary.values);
  } else {
    counts.numbers = 1 + options.hash_size;
    OutputFile(vocabulary_file(field), OutputFile::Mode::kCreate);
  }
  OutputFile file(numbers_file(folder_, field), OutputFile::Mode::kCreate);
  std::vector<uint32_t> numbers;
  visit(field, [&](const uint64_t* values, const uint32_t* rows, size_t size) {
    numbers.resize(size);
    if (options.hash_size == 0) map.find(values, size, kRareNumber, numbers.data());
    for (size_t i = 0; i < size; ++i) {
      if (options.hash_size > 0) {
        numbers[i] = hashed_number(values[i], field, options.hash_size);
        counts.missing += values[i] == kMissing ? rows[i] : 0;
      }
      if (values[i] == kMissing) numbers[i] = kMissingNumber;
    }
    offsets_[field].push_back(file.size());
    file.append(numbers.data(), size * sizeof(uint32_t));
  });
}

void Numbering::run(const NumberingOptions& options, const std::function<void(size_t done)>& progress) {
  const size_t threads = std::clamp<size_t>(options.threads, 1, kMostCounting);
  std::atomic<size_t> done = 0;
  for_all(
      threads, fields_.size(),
      [&](size_t field) {
        number_field(field, options);
        ++done;
      },
      [&] { progress(done); });
  for (size_t f = 0; f < fields_.size(); ++f) {
    numbers_.push_back(std::make_unique<InputFile>(numbers_file(folder_, f)));
  }
}

void Numbering::read_numbers(size_t group, size_t field, std::vector<uint32_t>& out) const {
  out.resize(groups_[group].shape.sizes[field]);
  numbers_[field]->read_at(out.data(), out.size() * sizeof(uint32_t), offsets_[field][group]);
}

}  // namespace hewn::data
