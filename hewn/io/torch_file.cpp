#include "hewn/io/torch_file.h"

#include <algorithm>
#include <utility>

#include "hewn/core/error.h"
#include "hewn/core/json.h"
#include "hewn/core/text.h"
#include "hewn/io/pickle_objects.h"
#include "hewn/io/torch_archive.h"
#include "hewn/io/torch_tensor.h"

namespace hewn::io {
namespace {

using Kind = PickleValue::Kind;

constexpr uint64_t kMostUses = 16;                 // of a storage's bytes, on average: tensors may share them
constexpr uint64_t kSmall = uint64_t{1} << 20;     // bytes that tensors may have anyway
constexpr std::string_view kParallel = "module.";  // what data-parallel training leaves before names
const std::vector<std::string> kWrappers = {"state_dict", "model_state_dict", "model"};

class StateDictReader {
 public:
  explicit StateDictReader(const std::filesystem::path& path)
      : archive_(path), pickle_(parse_pickle(archive_.pickle(), archive_.where())) {}

  TorchFile read() {
    const PickleValue& states = unwrapped(pickle_.at(pickle_.root));
    std::vector<std::string> others;
    std::map<std::string, StridedTensor> found;
    for (size_t i = 0; i + 1 < states.items.size(); i += 2) {
      const std::string name = name_of_entry(pickle_.at(states.items[i]));
      const PickleValue& value = pickle_.at(states.items[i + 1]);
      if (value.kind != Kind::kTensor) {
        others.push_back(in_quotes(name));
        continue;
      }
      if (!found.emplace(name, parse_tensor(pickle_, value, name, archive_.where())).second)
        throw FormatError(archive_.where(), str("holds tensor ", in_quotes(name), " twice"));
    }
    if (found.empty()) throw FormatError(archive_.where(), "holds no tensors by name; " + kExpected);
    if (!others.empty()) note(str("left out ", first_of(others), ": no tensors"));
    strip_prefix(found);
    load(found);
    return std::move(out_);
  }

 private:
  void note(const std::string& text) { out_.note += (out_.note.empty() ? "" : "; ") + text; }

  static std::string first_of(std::vector<std::string> names) {
    constexpr size_t kMostNamed = 8;
    if (names.size() <= kMostNamed) return join(names);
    const size_t more = names.size() - kMostNamed;
    names.resize(kMostNamed);
    return str(join(names), " and ", more, " more");
  }

  bool has_tensors(const PickleValue& dict) const {
    for (size_t i = 1; i < dict.items.size(); i += 2) {
      if (pickle_.at(dict.items[i]).kind == Kind::kTensor) return true;
    }
    return false;
  }

  /// A state dict holds no dicts: one under such a name that has tensors is what a checkpoint was made
  /// around.
  const PickleValue& unwrapped(const PickleValue& root) {
    if (root.kind != Kind::kDict) throw FormatError(archive_.where(), "holds no dict; " + kExpected);
    std::vector<std::string> others;
    const PickleValue* found = nullptr;
    std::string wrapper;
    for (size_t i = 0; i + 1 < root.items.size(); i += 2) {
      const PickleValue& key = pickle_.at(root.items[i]);
      const PickleValue& value = pickle_.at(root.items[i + 1]);
      const bool known = std::find(kWrappers.begin(), kWrappers.end(), key.text) != kWrappers.end();
      if (found == nullptr && known && value.kind == Kind::kDict && has_tensors(value)) {
        found = &value;
        wrapper = key.text;
      } else {
        others.push_back(key.kind == Kind::kText ? in_quotes(key.text) : "one without a name");
      }
    }
    if (found != nullptr) {
      note(str("took \"", wrapper, "\" of a checkpoint",
               others.empty() ? "" : "; left out " + first_of(others)));
      return *found;
    }
    if (!has_tensors(root)) {
      throw FormatError(archive_.where(),
                        str("holds no tensors at its top, only ",
                            others.empty() ? "nothing" : first_of(others), "; ", kExpected));
    }
    return root;
  }

  std::string name_of_entry(const PickleValue& key) const {
    if (key.kind != Kind::kText || valid_utf8(key.text) != key.text)
      throw FormatError(archive_.where(), "has an entry whose name is no text; " + kExpected);
    return key.text;
  }

  void strip_prefix(std::map<std::string, StridedTensor>& tensors) {
    const bool all = std::all_of(tensors.begin(), tensors.end(),
                                 [](const auto& item) { return item.first.starts_with(kParallel); });
    if (!all) return;
    std::map<std::string, StridedTensor> out;
    for (auto& [name, tensor] : tensors) out[name.substr(kParallel.size())] = std::move(tensor);
    tensors = std::move(out);
    note(str("took \"", kParallel, "\" off all names"));
  }

  void load(const std::map<std::string, StridedTensor>& tensors) {
    std::map<std::string, const std::string*> storages;
    uint64_t held = 0;
    uint64_t wanted = 0;
    for (const auto& [name, tensor] : tensors) {
      const std::string*& bytes = storages[tensor.key];
      if (bytes == nullptr) {
        out_.bytes.push_back(archive_.storage(tensor.key));
        bytes = &out_.bytes.back();
        held += bytes->size();
      }
      if (tensor.storage > bytes->size() / size_of(tensor.type)) {
        throw FormatError(archive_.where(),
                          str("tensor ", in_quotes(name), ": its storage has ", bytes->size(),
                              " bytes, too few for ", tensor.storage, " elements"));
      }
      const uint64_t size = tensor.elements() * size_of(tensor.type);
      if (size > kMostUses * held + kSmall - std::min(wanted, kMostUses * held + kSmall)) {
        throw FormatError(archive_.where(),
                          str("tensor ", in_quotes(name), ": repeats its elements too often (", size,
                              " bytes); save a contiguous copy"));
      }
      wanted += size;
      out_.tensors[name] = {tensor.type, tensor.shape, elements_of(tensor, *bytes)};
    }
  }

  std::span<const std::byte> elements_of(const StridedTensor& tensor, const std::string& storage) {
    const size_t size = tensor.elements() * size_of(tensor.type);
    if (size == 0) return {};
    if (tensor.row_major())
      return std::as_bytes(std::span(storage)).subspan(tensor.offset * size_of(tensor.type), size);
    out_.bytes.push_back(gather_rows(tensor, storage));
    return std::as_bytes(std::span(out_.bytes.back()));
  }

  inline static const std::string kExpected = "expected a state dict: torch.save(model.state_dict(), FILE)";

  TorchArchive archive_;
  Pickle pickle_;
  TorchFile out_;
};

}  // namespace

TorchFile read_torch(const std::filesystem::path& path) { return StateDictReader(path).read(); }

}  // namespace hewn::io
