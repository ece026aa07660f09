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

constexpr const char* kPartNames[] = {"train", "val", "valid", "validation", "test"};
constexpr const char* kValidationNames[] = {"val", "valid", "validation"};
constexpr const char* kAnnotations = "val/val_annotations.txt";
constexpr const char* kClassNames = "wnids.txt";

bool is_image(const std::string& name) {
  std::string ending = fs::path(name).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpeg" || ending == ".jpg" || ending == ".png";
}

bool is_class_folder(const fs::directory_entry& entry) {
  return entry.is_directory() && entry.path().filename().string()[0] != '.';
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
    bool parts = false;
    for (const char* name : kPartNames) parts = is_part(name) || parts;
    if (!parts) {
      out_.whole = true;
      number_classes(class_folders(folder_));
      if (out_.classes.empty()) throw Error(str(path("train"), ": no such folder; ", expected()));
      for (const std::string& name : out_.classes) add_class(name, numbers_[name], out_.train);
      return std::move(out_);
    }
    number_classes(folders_in("train"));
    if (out_.classes.empty())
      throw Error(str(path("train"), ": expected a folder for each class, found none"));
    check_class_names();
    for (const std::string& name : out_.classes) add_class("train/" + name, numbers_[name], out_.train);
    add_held_out();
    return std::move(out_);
  }

 private:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string expected() const {
    return str("expected train and val or test, or a folder for each class, in ", folder_.string());
  }

  /// Whether a file is there; the listing depends on it either way.
  bool has(const std::string& name) {
    out_.seen.push_back({name, modified(folder_ / name)});
    return out_.seen.back().modified >= 0;
  }

  /// Whether a folder holds classes. One with images of its own is a class itself, or has no labels.
  bool is_part(const std::string& name) {
    if (!has(name) || !fs::is_directory(folder_ / name)) return false;
    bool images = false;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      if (is_class_folder(entry)) return true;
      images = images || is_image(entry.path().filename().string());
    }
    return !images;
  }

  void number_classes(std::vector<std::string> names) {
    out_.classes = std::move(names);
    for (size_t i = 0; i < out_.classes.size(); ++i) numbers_[out_.classes[i]] = static_cast<uint32_t>(i);
  }

  /// Both take the time first: what is added later makes the folder younger.
  std::vector<std::string> folders_in(const std::string& name) {
    if (!has(name)) throw Error(str(path(name), ": no such folder; ", expected()));
    return class_folders(folder_ / name);
  }
  std::vector<std::string> images_in(const std::string& name) {
    if (!has(name)) throw Error(str(path(name), ": no such folder"));
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_ / name)) {
      const std::string found = entry.path().filename().string();
      if (is_image(found)) out.push_back(found);
    }
    std::sort(out.begin(), out.end());
    if (out.empty()) throw Error(str(path(name), ": holds no *.JPEG, *.jpeg, *.jpg or *.png file"));
    return out;
  }

  void add_class(std::string from, uint32_t label, ImageList& to) {
    if (fs::is_directory(folder_ / from / "images")) from += "/images";
    const std::vector<std::string> names = images_in(from);
    from += '/';
    for (const std::string& name : names) to.add(from + name, label);
  }

  void add_part(const std::string& part, ImageList& to) {
    for (const std::string& name : folders_in(part)) {
      const std::string from = str(part, "/", name);
      add_class(from, number_of(name, path(from)), to);
    }
    if (to.size() == 0) throw Error(str(path(part), ": expected a folder for each class, found none"));
  }

  /// What is not trained with. Alone, a validation part serves as the test.
  void add_held_out() {
    std::string validation;
    for (const char* name : kValidationNames) {
      if (!fs::is_directory(folder_ / name)) continue;
      if (!validation.empty()) {
        throw Error(str(path(name), ": expected one validation part, found ", validation, " too"));
      }
      validation = name;
    }
    const bool test = fs::is_directory(folder_ / "test") && (validation.empty() || has_labels("test"));
    if (!test && validation.empty()) {
      throw Error(str(path("val"), ": no such folder; expected val or test beside train (imagefolder:",
                      path("train"), " holds out a part of train)"));
    }
    if (test) add_part("test", out_.test);
    if (validation.empty()) return;
    ImageList& to = test ? out_.validation : out_.test;
    if (validation == "val" && has(kAnnotations)) {
      add_annotated(to);
    } else {
      add_part(validation, to);
    }
  }

  /// ImageNet's and Tiny-ImageNet's test images have none: they lie in one heap.
  bool has_labels(const std::string& part) const {
    const std::vector<std::string> names = class_folders(folder_ / part);
    return names.size() > 1 || (names.size() == 1 && numbers_.count(names[0]) > 0);
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
  void add_annotated(ImageList& to) {
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
    for (const std::string& name : images_in("val/images")) {
      const auto found = labels.find(name);
      if (found == labels.end()) throw Error(str(path(kAnnotations), ": says nothing about ", name));
      to.add("val/images/" + name, found->second);
    }
  }

  fs::path folder_;
  ImageListing out_;
  std::map<std::string, uint32_t> numbers_;
};

}  // namespace

std::vector<std::string> class_folders(const fs::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_class_folder(entry)) out.push_back(entry.path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void ImageList::add(std::string_view path, uint32_t label) {
  text += path;
  ends.push_back(text.size());
  labels.push_back(label);
}

std::string_view ImageList::path(size_t i) const {
  const uint64_t begin = i == 0 ? 0 : ends[i - 1];
  return std::string_view(text).substr(begin, ends[i] - begin);
}

std::string_view ImageListing::path(size_t number) const {
  if (number < train.size()) return train.path(number);
  number -= train.size();
  return number < validation.size() ? validation.path(number) : test.path(number - validation.size());
}

uint32_t ImageListing::label(size_t number) const {
  if (number < train.size()) return train.labels[number];
  number -= train.size();
  return number < validation.size() ? validation.labels[number] : test.labels[number - validation.size()];
}

int64_t modified(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return -1;
  constexpr int64_t kSecond = 1'000'000'000;
  return status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec;
}

ImageListing list_images(const fs::path& folder) { return Lister(folder).list(); }

}  // namespace hewn::data
