#include "hewn/deploy/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/tables/cells.h"
#include "hewn/data/tables/encoding.h"
#include "hewn/deploy/inputs/predictor.h"
#include "hewn/io/csv.h"
#include "hewn/io/npz.h"
#include "hewn/io/source_kind.h"

namespace hewn::deploy {
namespace {

constexpr std::string_view kInputName = "input";  // of the only input that models have

/// Without NAME= in front, unless a file is called so.
std::string input_path(const std::string& argument) {
  const size_t mark = argument.find('=');
  if (mark == std::string::npos || is_there(argument)) return argument;
  const std::string name = argument.substr(0, mark);
  if (name == kInputName) return argument.substr(mark + 1);
  throw Error(hewn::str(argument, ": the model has no input \"", name, "\"; it has: ", kInputName));
}

io::NpyMatrix matrix_of(io::Table table, const std::string& where) {
  if (table.first_missing) {
    throw FormatError(where, hewn::str("line ", table.first_missing->line, ", column ",
                                       table.first_missing->column + 1, ": has no number"));
  }
  return {table.rows, static_cast<int64_t>(table.numeric.size()), std::move(table.values)};
}

/// Why images are not taken, to stand behind what was given.
std::string no_images(const OpenModel& model) {
  if (model.preprocessing().is_null())
    return "; this model file does not say how images become inputs, give data as imagefolder:PATH";
  if (model.preprocessing().value("kind", Json()) == "image")
    return hewn::str("; give it without ", kInputName, "= in front");
  return model.vocabularies().empty() ? "; the model takes no images" : "; the model takes click logs";
}

io::NpyMatrix read_matrix(const std::string& path, const OpenModel& model) {
  switch (const io::SourceKind kind = io::kind_of(path)) {
    case io::SourceKind::kMissing:
      throw FormatError(path, "no such file or folder");
    case io::SourceKind::kNpy:
      return io::read_npy(path, io::NpyShape::kAny);
    case io::SourceKind::kNpz:
      return io::read_npz(path, std::string(kInputName), io::NpyShape::kAny);
    case io::SourceKind::kUnknown:
      return matrix_of(io::read_csv(path, {}), path);
    case io::SourceKind::kImage:
    case io::SourceKind::kFolder:
      throw FormatError(path, hewn::str("is ", kind == io::SourceKind::kImage ? "an image file" : "a folder",
                                        no_images(model)));
    default:
      throw FormatError(path,
                        hewn::str("is ", name_of(kind), "; inputs are .npy, .npz or .csv files, or - for ",
                                  "standard input"));
  }
}

/// What of a number a model cannot take; "" where it can.
std::string problem_of(double value, int64_t vocabulary) {
  if (!std::isfinite(value)) return "expected a number, got NaN or infinity";
  if (vocabulary > 0 && (value != std::floor(value) || value < 0 || value >= static_cast<double>(vocabulary)))
    return hewn::str("expected a whole number from 0 to ", vocabulary - 1, ", got ", value);
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
    return hewn::str("does not fit into 32 bits: ", value);
  return "";
}

void add_matrix(const io::NpyMatrix& matrix, const std::string& where, const OpenModel& model,
                Samples& samples) {
  const int64_t inputs = model.inputs();
  // Without a dimension for samples it is one of them.
  const bool single = matrix.cols != inputs && matrix.rows * matrix.cols == inputs;
  if (matrix.cols != inputs && !single) {
    const auto shape = model.input_shape();
    throw FormatError(
        where, hewn::str("has ", matrix.rows, " rows of ", matrix.cols, " numbers; the model takes ", inputs,
                         " (", shape[0], "x", shape[1], "x", shape[2], ") a sample"));
  }
  const int64_t count = single ? 1 : matrix.rows;
  if (count == 0) throw FormatError(where, "holds no samples");
  const std::vector<int64_t>& vocabularies = model.vocabularies();
  const auto before = static_cast<int64_t>(samples.values.size());
  samples.values.resize(static_cast<size_t>(before + count * inputs));
  for (int64_t i = 0; i < count * inputs; ++i) {
    const int64_t row = i / inputs;
    const int64_t column = i % inputs;
    const int64_t at =
        single ? column % matrix.cols * matrix.rows + column / matrix.cols : column * count + row;
    const double value = matrix.values[static_cast<size_t>(at)];
    const std::string problem =
        problem_of(value, vocabularies.empty() ? 0 : vocabularies[static_cast<size_t>(column)]);
    if (!problem.empty()) {
      throw FormatError(where, hewn::str("row ", row + 1, ", column ", column + 1, ": ", problem));
    }
    samples.values[static_cast<size_t>(before + i)] = static_cast<float>(value);
  }
  samples.count += count;
}

/// Rows of a table, for a model that was trained on one.
void add_rows(const data::Cells& cells, const data::TableEncoding& encoding, Samples& samples) {
  const std::vector<float> values = data::encoded_inputs(cells, encoding);
  samples.values.insert(samples.values.end(), values.begin(), values.end());
  samples.count += cells.rows;
}

data::TableEncoding encoding_of(const OpenModel& model) {
  data::TableEncoding out =
      data::table_encoding({model.classes(), model.preprocessing(), model.arrays()}, "the model");
  if (out.features() == model.inputs()) return out;
  throw Error(hewn::str("the model: takes ", model.inputs(), " inputs, its table has ", out.features()));
}

}  // namespace

void add_samples(const std::string& argument, const OpenModel& model, Samples& samples) {
  const std::string path = input_path(argument);
  if (data::is_table_rule(model.preprocessing())) {
    const data::TableEncoding encoding = encoding_of(model);
    return add_rows(data::read_new_rows(path, encoding), encoding, samples);
  }
  add_matrix(read_matrix(path, model), path, model, samples);
}

void add_samples(std::string_view bytes, const std::string& where, const OpenModel& model, Samples& samples) {
  if (data::is_table_rule(model.preprocessing())) {
    const data::TableEncoding encoding = encoding_of(model);
    return add_rows(data::parse_new_rows(bytes, where, encoding), encoding, samples);
  }
  add_matrix(io::starts_as_npy(bytes) ? io::parse_npy(bytes, where, io::NpyShape::kAny)
                                      : matrix_of(io::parse_csv(bytes, where, {}), where),
             where, model, samples);
}

Predictions predict(OpenModel& model, const Samples& samples, int64_t batch, int64_t limit) {
  Predictor predictor(model, batch, limit);
  predictor.add(samples.values.data(), samples.count);
  return predictor.finish();
}

}  // namespace hewn::deploy
