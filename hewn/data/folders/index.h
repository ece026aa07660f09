#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "hewn/data/folders/listing.h"

namespace hewn::data {

/// The listing of a folder from its index file (docs/formats.md), or made anew where there is none that fits;
/// then the index is written. `cache` is the folder of the file, empty: .hewn-cache in the folder itself.
/// `say` hears why an index was not used or not kept.
ImageListing indexed_images(const std::filesystem::path& folder, const std::string& cache,
                            const std::function<void(const std::string&)>& say);

/// Where that file lies.
std::filesystem::path index_file(const std::filesystem::path& folder, const std::string& cache);

/// The bytes of an index and back, also from those of an earlier version. Throws FormatError that names the
/// file when they are damaged or those of another version.
std::string index_bytes(const ImageListing& listing, int64_t listed);
ImageListing parse_index(std::string_view bytes, const std::string& path, int64_t* listed);

}  // namespace hewn::data
