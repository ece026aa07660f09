#include "hewn/data/folders/listing.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "hewn/core/error.h"
#include "hewn/core/files.h"

namespace hewn::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAnnotations = "val/val_annotations.txt";
constexpr const char* kClassNames = "wnids.txt";

bool is_image(const std::string& name) {
  std::string ending = fs::path(name).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpeg" || ending == ".jpg" || ending == ".png";
}

class Lister {
 public:
  explicit Lister(const fs::path& folder) : folder_(folder) {
    if (!fs::is_directory(folder)) {
      throw Error(
          str("data imagefolder: no folder \"", folder.string(), "\"; give data as imagefolder:FOLDER"));
    }
  }

  ImageListing list() {
    out_.classes = names_in("train", /*folders=*/true);
    if (out_.classes.empty())
      throw Error(str(path("train"), ": expected a folder for each class, found none"));
    for (size_t i = 0; i < out_.classes.size(); ++i) numbers_[out_.classes[i]] = static_cast<uint32_t>(i);
    check_class_names();
    for (const std::string& name : out_.classes) add_class("train/" + name, numbers_[name], out_.train);
    if (has(kAnnotations)) {
      add_annotated();
    } else {
      for (const std::string& name : names_in("val", /*folders=*/true)) {
        add_class("val/" + name, number_of(name, path("val/" + name)), out_.test);
      }
      if (out_.test.size() == 0)
        throw Error(str(path("val"), ": expected a folder for each class, found none"));
    }
    return std::move(out_);
  }

 private:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Whether a file is there; the listing depends on it either way.
  bool has(const std::string& name) {
    out_.seen.push_back({name, modified(folder_ / name)});
    return out_.seen.back().modified >= 0;
  }

  /// Sorted. The time is taken first: what is added later makes the folder younger.
  std::vector<std::string> names_in(const std::string& name, bool folders) {
    if (!has(name))
      throw Error(str(path(name), ": no such folder; expected train and val in ", folder_.string()));
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      const std::string found = entry.path().filename().string();
      if (folders ? entry.is_directory() && found[0] != '.' : is_image(found)) out.push_back(found);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void add_class(std::string from, uint32_t label, ImageList& to) {
    if (fs::is_directory(folder_ / from / "images")) from += "/images";
    const std::vector<std::string> names = names_in(from, /*folders=*/false);
    if (names.empty()) throw Error(str(path(from), ": holds no *.JPEG, *.jpeg, *.jpg or *.png file"));
    for (const std::string& name : names) to.add(from + "/" + name, label);
  }

  uint32_t number_of(const std::string& name, const std::string& where) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) throw Error(str(where, ": there is no class \"", name, "\" in train/"));
    return found->second;
  }

  /// Where the classes are written down, none may be missing.
  void check_class_names() {
    if (!has(kClassNames)) return;
    std::istringstream words(read_file(folder_ / kClassNames));
    for (std::string name; words >> name;) number_of(name, path(kClassNames));
  }

  /// Each line: the name of a file in val/images, a tab, its class, and more that is of no interest.
  void add_annotated() {
    std::istringstream lines(read_file(folder_ / kAnnotations));
    std::map<std::string, uint32_t> labels;
    int64_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::istringstream words(line);
      std::string name;
      std::string label;
      const std::string where = str(path(kAnnotations), ":", number);
      if (!(words >> name >> label)) throw Error(str(where, ": expected a file name and a class"));
      labels[name] = number_of(label, where);
    }
    for (const std::string& name : names_in("val/images", /*folders=*/false)) {
      const auto found = labels.find(name);
      if (found == labels.end()) throw Error(str(path(kAnnotations), ": says nothing about ", name));
      out_.test.add("val/images/" + name, found->second);
    }
    if (out_.test.size() == 0)
      throw Error(str(path("val/images"), ": holds no *.JPEG, *.jpeg, *.jpg or *.png file"));
  }

  fs::path folder_;
  ImageListing out_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

void ImageList::add(std::string_view path, uint32_t label) {
  text += path;
  ends.push_back(text.size());
  labels.push_back(label);
}

std::string_view ImageList::path(size_t i) const {
  const uint64_t begin = i == 0 ? 0 : ends[i - 1];
  return std::string_view(text).substr(begin, ends[i] - begin);
}

int64_t modified(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return -1;
  constexpr int64_t kSecond = 1'000'000'000;
  return status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec;
}

ImageListing list_images(const fs::path& folder) { return Lister(folder).list(); }

}  // namespace hewn::data
