// Loads arbitrary bytes as a model file and, where they pass for one, runs a sample, and rows of a click log
// where its preprocessing takes them. Built by ./dev fuzz with
// clang's libFuzzer. The checksum is not looked at, or it would stop nearly every mutation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/data/inputs/click_inputs.h"
#include "hewn/data/inputs/image_rule.h"
#include "hewn/runtime/model.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

// So that a run that is allowed takes milliseconds, with sanitizers.
constexpr hewn::runtime::Limits kLimits = {1 << 14, 1 << 16, 1 << 20, 1 << 14};
constexpr size_t kPrefix = 8;  // bytes of the header's length
// Rows and a header for many schemas: what does not fit is refused.
constexpr const char* kLogs[] = {"1\t2\tab\n\t-1e9\t\n0\t99999\tff", "2\tab\n3\t1",
                                 "label,n,c\n1,2.5,\"a\"\"b\"\n", "c,n\nx,\n"};

void run_logs(hewn::runtime::Model& model) {
  using namespace hewn::data;
  const ClickInputs inputs(click_rule(model.preprocessing(), model.arrays(), model.vocabularies()));
  std::vector<float> output(static_cast<size_t>(2 * model.outputs()));
  for (const char* log : kLogs) {
    try {
      inputs.read(text_of(log), "log", 2, [&](const float* rows, int64_t count) {
        model.run(rows, count, output.data());
        // Every number that comes out of the preprocessing is one that the model takes.
        const std::vector<int64_t> vocabularies = model.vocabularies();
        for (size_t i = 0; i < static_cast<size_t>(count) * vocabularies.size(); ++i) {
          if (!(rows[i] < static_cast<float>(vocabularies[i % vocabularies.size()]))) __builtin_trap();
        }
        return true;
      });
    } catch (const hewn::Error&) {
    }
  }
}

void use_preprocessing(hewn::runtime::Model& model) {
  const hewn::Json& rule = model.preprocessing();
  if (!rule.is_object() || !rule.contains("kind")) return;
  const auto [channels, height, width] = model.input_shape();
  if (rule["kind"] == "clicks") run_logs(model);
  if (rule["kind"] == "image") hewn::data::image_rule(rule, channels, height, width);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    hewn::runtime::Model model(
        hewn::runtime::parse_model({reinterpret_cast<const char*>(data), size}, "fuzz", kLimits, false),
        kLimits);
    model.set_threads(1);
    // For an embedding the number of a value, which some vocabularies hold.
    const std::vector<float> input(static_cast<size_t>(model.inputs()), 1.0F);
    std::vector<float> output(static_cast<size_t>(model.outputs()));
    model.run(input.data(), 1, output.data());
    use_preprocessing(model);
  } catch (const hewn::Error&) {
  }
  return 0;
}

/// Half of the time any change; else one inside the header, whose length is then written anew, or inside the
/// data, whose length stays.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  uint64_t header = 0;
  if (size >= kPrefix) std::memcpy(&header, data, kPrefix);
  // libFuzzer cannot change nothing in place.
  const bool whole = header > 0 && size > kPrefix && header < size - kPrefix;
  if (seed % 2 == 0 || !whole) return LLVMFuzzerMutate(data, size, max_size);
  const size_t data_size = size - kPrefix - header;
  std::vector<uint8_t> tail(data + kPrefix + header, data + size);
  if (seed % 8 == 1) {
    const size_t left = LLVMFuzzerMutate(data + kPrefix + header, data_size, data_size);
    std::copy(tail.begin() + static_cast<std::ptrdiff_t>(left), tail.end(), data + kPrefix + header + left);
    return size;
  }
  header = LLVMFuzzerMutate(data + kPrefix, header, max_size - kPrefix - data_size);
  std::copy(tail.begin(), tail.end(), data + kPrefix + header);
  std::memcpy(data, &header, kPrefix);
  return kPrefix + header + data_size;
}
