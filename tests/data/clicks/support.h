#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "hewn/core/error.h"
#include "hewn/core/files.h"
#include "hewn/data/clicks/prepare.h"

namespace hewn::data {

/// What an action throws; "no error" where it does not.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Small chunks, so that a small file has many.
inline PrepareRequest request_for(const std::filesystem::path& data, const std::filesystem::path& cache,
                                  size_t threads = 1) {
  PrepareRequest request;
  request.format = "criteo";
  request.path = data.string();
  request.options.cache = cache.string();
  request.options.min_count = 2;
  request.threads = threads;
  request.chunk = size_t{1} << 15;
  return request;
}

/// The bytes of the cache.
inline std::string built(const PrepareRequest& request) { return read_file(prepare_clicks(request).cache); }

}  // namespace hewn::data
