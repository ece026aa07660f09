#include "hewn/io/torch_archive.h"

#include <fstream>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/io/pickle_objects.h"

namespace hewn::io {
namespace {

constexpr uint64_t kMostPickle = uint64_t{1} << 26;  // a tensor takes some hundred bytes of it
const std::string kPickle = "data.pkl";

/// Before 1.6 torch.save wrote pickles one behind the other.
bool is_old(const std::filesystem::path& path) {
  expect_file(path);
  std::ifstream file(path, std::ios::binary);
  return file.get() == 0x80;
}

}  // namespace

TorchArchive::TorchArchive(const std::filesystem::path& path) : path_(path), where_(path.string()) {
  if (is_old(path)) {
    throw FormatError(where_,
                      "was written by PyTorch before 1.6, or in its old form; in Python: "
                      "torch.save(torch.load(FILE, weights_only=True), NEW)");
  }
  for (ZipMember& one : read_zip_directory(path)) {
    const size_t slash = one.name.find('/');
    if (slash != std::string::npos && one.name.substr(slash + 1) == kPickle) {
      if (!name_.empty()) throw FormatError(where_, "has more than one data.pkl");
      name_ = one.name.substr(0, slash + 1);
    }
    const std::string name = one.name;
    if (!members_.emplace(name, std::move(one)).second)
      throw FormatError(where_, str("has two members ", in_quotes(name)));
  }
  if (name_.empty()) throw FormatError(where_, "is no file of torch.save: its archive has no data.pkl");
  if (members_.contains(name_ + "constants.pkl")) {
    throw FormatError(where_,
                      "is a TorchScript archive; in Python: "
                      "torch.save(torch.jit.load(FILE).state_dict(), NEW)");
  }
  left_ = std::filesystem::file_size(path);
  const std::string order = members_.contains(name_ + "byteorder") ? read(member("byteorder")) : "little";
  if (order != "little") throw FormatError(where_, "has its bytes in another order than little endian");
}

const ZipMember& TorchArchive::member(const std::string& name) const {
  const auto found = members_.find(name_ + name);
  if (found == members_.end())
    throw FormatError(where_, str("its archive has no member ", in_quotes(name_ + name)));
  return found->second;
}

std::string TorchArchive::read(const ZipMember& member) const {
  if (member.method != 0)
    throw FormatError(where_, str("member ", in_quotes(member.name), " is packed; torch.save stores all"));
  const auto stream = open_zip_member(path_, member);  // has checked that the file is so long
  std::string out(member.size, '\0');
  stream->read(out.data(), out.size());
  return out;
}

std::string TorchArchive::pickle() const {
  const ZipMember& one = member(kPickle);
  if (one.size > kMostPickle)
    throw FormatError(where_, str("its pickle has ", one.size, " bytes; at most ", kMostPickle, " are read"));
  return read(one);
}

std::string TorchArchive::storage(const std::string& key) {
  const ZipMember& one = member("data/" + key);
  if (one.size > left_) throw FormatError(where_, "has members that overlap");
  left_ -= one.size;
  return read(one);
}

}  // namespace hewn::io
