#include <algorithm>
#include <string>
#include <vector>

#include "hewn/core/error.h"
#include "hewn/io/pickle_bytes.h"
#include "hewn/io/pickle_objects.h"
#include "hewn/io/torch_file.h"
#include "hewn/io/zip.h"

namespace hewn::io {
namespace {

constexpr uint64_t kAlignment = 64;  // of storages, as torch.save does: they can be mapped into memory
const std::string kFolder = "archive/";

/// A pickle of protocol 2, as torch.save writes it, but for its memo.
class PickleWriter {
 public:
  void op(PickleOp code) { out_.push_back(static_cast<char>(code)); }
  void little(uint64_t value, int count) {
    for (int i = 0; i < count; ++i, value >>= 8) out_.push_back(static_cast<char>(value & 0xff));
  }
  void text(const std::string& value) {
    op(kBinUnicode);
    little(value.size(), 4);
    out_ += value;
  }
  void integer(uint64_t value) {
    const bool small = value <= 0x7fffffff;
    op(small ? kBinInt : kLong1);
    if (!small) little(8, 1);
    little(value, small ? 4 : 8);
  }
  void global(const std::string& name) {
    const size_t dot = name.rfind('.');
    op(kGlobal);
    out_ += str(name.substr(0, dot), '\n', name.substr(dot + 1), '\n');
  }
  void tuple(const std::vector<int64_t>& values) {
    op(kMark);
    for (const int64_t value : values) integer(static_cast<uint64_t>(value));
    op(kTuple);
  }
  void ordered_dict() {
    global("collections.OrderedDict");
    op(kEmptyTuple);
    op(kReduce);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::vector<int64_t> row_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * std::max<int64_t>(shape[i], 1);
  return out;
}

void write_tensor(PickleWriter& to, const TensorView& view, const std::string& key) {
  to.global("torch._utils._rebuild_tensor_v2");
  to.op(kMark);
  to.op(kMark);
  to.text("storage");
  to.global(storage_class(view.type));
  to.text(key);
  to.text("cpu");
  to.integer(view.data.size() / size_of(view.type));
  to.op(kTuple);
  to.op(kBinPersId);
  to.integer(0);
  to.tuple(view.shape);
  to.tuple(row_strides(view.shape));
  to.op(kNewFalse);   // requires_grad
  to.ordered_dict();  // backward hooks
  to.op(kTuple);
  to.op(kReduce);
}

}  // namespace

void write_torch(const std::filesystem::path& path, const std::map<std::string, TensorView>& tensors) {
  PickleWriter pickle;
  std::vector<std::pair<std::string, std::string_view>> storages;
  pickle.op(kProto);
  pickle.little(2, 1);
  pickle.ordered_dict();
  pickle.op(kMark);
  for (const auto& [name, view] : tensors) {
    const std::string key = std::to_string(storages.size());
    pickle.text(name);
    write_tensor(pickle, view, key);
    storages.emplace_back(
        str(kFolder, "data/", key),
        std::string_view(reinterpret_cast<const char*>(view.data.data()), view.data.size()));
  }
  pickle.op(kSetItems);
  pickle.op(kStop);
  const std::string bytes = pickle.take();
  std::vector<std::pair<std::string, std::string_view>> members = {{kFolder + "data.pkl", bytes},
                                                                   {kFolder + "byteorder", "little"}};
  members.insert(members.end(), storages.begin(), storages.end());
  members.emplace_back(kFolder + "version", "3\n");
  write_zip(path, members, kAlignment);
}

}  // namespace hewn::io
