#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace hewn::test {

/// A file that hewn reads, and what reads it.
struct Target {
  std::string name;
  std::filesystem::path file;
  std::function<void()> read;
  /// Puts back what reading has changed besides the file; may be empty.
  std::function<void()> restore = {};
};

/// One small file of every kind that hewn reads, made by hewn where hewn writes them.
class Corpus {
 public:
  Corpus();
  const std::vector<Target>& targets() const { return targets_; }
  /// A sealed safetensors file with another header, and a checksum that fits.
  static std::string resealed(const std::string& bytes,
                              const std::function<std::string(std::string)>& change);

 private:
  void add(const std::string& name, const std::filesystem::path& file, std::function<void()> read,
           std::function<void()> restore = {});
  void add_run();
  void add_checkpoint();
  void add_models();
  void add_networks();
  void add_tables();
  void add_images();
  void add_clicks();
  void add_text();
  void add_settings();
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TempFolder folder_;
  std::vector<Target> targets_;
};

}  // namespace hewn::test
