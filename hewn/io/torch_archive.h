#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "hewn/io/zip.h"

namespace hewn::io {

/// The ZIP archive around a state dict: NAME/data.pkl, and NAME/data/KEY for every storage.
class TorchArchive {
 public:
  /// Throws FormatError for an archive that is not torch.save's.
  explicit TorchArchive(const std::filesystem::path& path);

  const std::string& where() const { return where_; }
  std::string pickle() const;
  /// The bytes of a storage. Throws FormatError where all that were read together are more than the file has.
  std::string storage(const std::string& key);

 private:
  const ZipMember& member(const std::string& name) const;
  std::string read(const ZipMember& member) const;

  std::filesystem::path path_;
  std::string where_;
  std::string name_;  // of the folder in the archive, with its slash
  std::map<std::string, ZipMember> members_;
  uint64_t left_ = 0;  // bytes that storages may still have
};

}  // namespace hewn::io
