#include "hewn/data/clicks/cache/cache_writer.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "hewn/core/files.h"
#include "hewn/data/plumbing/input_file.h"
#include "hewn/data/plumbing/pipeline.h"

namespace hewn::data {
namespace {

constexpr uint64_t kGroupsBegin = sizeof(CacheHeader);

/// out[i] = table[codes[i]], or codes[i] itself where there is no table.
template <class T>
void put_column(const uint16_t* codes, const uint32_t* table, size_t rows, char* out) {
  auto* to = reinterpret_cast<T*>(out);
  for (size_t i = 0; i < rows; ++i) to[i] = static_cast<T>(table == nullptr ? codes[i] : table[codes[i]]);
}

void put_column(const uint16_t* codes, const uint32_t* table, size_t rows, uint32_t width, char* out) {
  if (width == 1) put_column<uint8_t>(codes, table, rows, out);
  if (width == 2) put_column<uint16_t>(codes, table, rows, out);
  if (width == 4) put_column<uint32_t>(codes, table, rows, out);
}

class Writer {
 public:
  Writer(const std::filesystem::path& path, const CacheContent& content)
      : content_(content),
        out_(path, OutputFile::Mode::kCreate),
        spool_(content.spool),
        columns_(content.schema.fields()) {
    describe_fields();
    place_groups();
  }

  void write_groups(size_t threads, const std::function<void(int64_t, int64_t)>& progress) {
    std::atomic<int64_t> done = 0;
    for_all(
        threads, table_.size(),
        [&](size_t g) {
          write_group(g);
          done += static_cast<int64_t>(content_.groups[g].shape.bytes());
        },
        [&] { progress(done, raw_bytes_); });
  }

  void finish() {
    uint64_t at = end_;
    for (size_t f = 0; f < content_.numbering.fields().size(); ++f) at = copy_vocabulary(f, at);
    Json metadata = content_.metadata;
    metadata["fields"] = fields_json_;
    const std::string text = metadata.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string_view table(reinterpret_cast<const char*>(table_.data()),
                                 table_.size() * sizeof(CacheGroup));
    CacheHeader header;
    for (const CacheGroup& group : table_) header.rows += group.rows;
    header.groups = table_.size();
    header.table = at;
    header.metadata = at + table.size();
    header.file_bytes = header.metadata + text.size();
    header.crc = head_crc(header, table, text);
    out_.write_at(table.data(), table.size(), header.table);
    out_.write_at(text.data(), text.size(), header.metadata);
    out_.write_at(&header, sizeof(header), 0);
    out_.sync();
  }

 private:
  void describe_fields() {
    size_t numeric = 0;
    size_t categorical = 0;
    for (const Column& column : columns_) {
      CacheField field;
      field.name = column.name;
      field.numeric = column.role == Role::kNumeric;
      Json json = {{"name", column.name}, {"role", field.numeric ? "numeric" : "categorical"}};
      if (field.numeric) {
        uint32_t largest = 0;
        for (const SpooledGroup& group : content_.groups)
          largest = std::max(largest, group.shape.largest[numeric]);
        field.numbers = uint64_t{largest} + 1;
        json["numbers"] = field.numbers;
        ++numeric;
      } else {
        const FieldCounts& counts = content_.numbering.fields()[categorical++];
        field.numbers = counts.numbers;
        json.update(Json{{"numbers", counts.numbers},
                         {"values", counts.values},
                         {"distinct", counts.distinct},
                         {"missing", counts.missing},
                         {"rare", counts.rare}});
      }
      field.width = width_of(field.numbers);
      fields_.push_back(field);
      fields_json_.push_back(json);
    }
  }

  void place_groups() {
    end_ = kGroupsBegin;
    uint64_t row = 0;
    for (const SpooledGroup& group : content_.groups) {
      CacheGroup entry;
      entry.offset = end_;
      entry.rows = group.shape.rows;
      entry.file = group.file;
      table_.push_back(entry);
      first_row_.push_back(row);
      end_ += GroupLayout(fields_, entry.rows).bytes;
      row += entry.rows;
      raw_bytes_ += static_cast<int64_t>(group.shape.bytes());
    }
  }

  void write_group(size_t g) {
    const SpooledGroup& from = content_.groups[g];
    CacheGroup& entry = table_[g];
    const GroupLayout layout(fields_, entry.rows);
    std::vector<char> raw(from.shape.bytes());
    std::vector<char> out(layout.bytes);
    std::vector<uint32_t> numbers;
    spool_.read_at(raw.data(), raw.size(), from.offset);
    std::memcpy(out.data(), raw.data() + from.shape.labels_at(), entry.rows);
    for (uint32_t i = 0; i < entry.rows; ++i) {
      const RowPart part = content_.split.part_of(first_row_[g] + i);
      out[layout.parts + i] = static_cast<char>(part);
      ++entry.parts[static_cast<size_t>(part)];
    }
    size_t numeric = 0;
    size_t categorical = 0;
    for (size_t f = 0; f < fields_.size(); ++f) {
      const bool is_number = fields_[f].numeric;
      const uint64_t at = is_number ? from.shape.numeric_at(numeric++) : from.shape.codes_at(categorical);
      if (!is_number) content_.numbering.read_numbers(g, categorical++, numbers);
      put_column(reinterpret_cast<const uint16_t*>(raw.data() + at), is_number ? nullptr : numbers.data(),
                 entry.rows, fields_[f].width, out.data() + layout.columns[f]);
    }
    entry.crc = crc32({out.data(), out.size()});
    out_.write_at(out.data(), out.size(), entry.offset);
  }

  /// Returns where the next one goes.
  uint64_t copy_vocabulary(size_t categorical, uint64_t at) {
    InputFile file(content_.numbering.vocabulary_file(categorical));
    std::vector<char> buffer(size_t{1} << 20);
    Json& json = fields_json_[field_of(categorical)];
    json["vocabulary_offset"] = at;
    uint32_t crc = 0;
    while (const size_t got = file.read(buffer.data(), buffer.size())) {
      out_.write_at(buffer.data(), got, at);
      crc = crc32({buffer.data(), got}, crc);
      at += got;
    }
    json["vocabulary_crc"] = crc;
    return (at + 7) / 8 * 8;
  }

  size_t field_of(size_t categorical) const {
    size_t f = 0;
    for (; fields_[f].numeric || categorical > 0; ++f) categorical -= fields_[f].numeric ? 0U : 1U;
    return f;
  }

  const CacheContent& content_;
  OutputFile out_;
  InputFile spool_;
  std::vector<Column> columns_;
  std::vector<CacheField> fields_;
  Json fields_json_ = Json::array();
  std::vector<CacheGroup> table_;
  std::vector<uint64_t> first_row_;
  uint64_t end_ = 0;
  int64_t raw_bytes_ = 0;
};

}  // namespace

void write_cache(const std::filesystem::path& path, const CacheContent& content, size_t threads,
                 const std::function<void(int64_t bytes, int64_t total)>& progress) {
  Writer writer(path, content);
  writer.write_groups(threads, progress);
  writer.finish();
}

}  // namespace hewn::data
