#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "hewn/run/metrics.h"

namespace hewn::run {

/// How a run ended: summary.json, which makes it a finished one.
struct Summary {
  std::string method;
  std::string data;
  std::string model;
  std::string block;
  double sparsity = 0;  // asked for; 0 where nothing was pruned
  int64_t seed = 0;
  int64_t epochs = 0;
  int64_t steps = 0;
  Metrics metrics;
  std::optional<std::string> eval_on = {};    // what the metrics are of, where it is not the test set
  std::optional<double> best_test_loss = {};  // where it is known: no model can expect a lower one
  double realised_sparsity = 0;
  int64_t layers_pruned = 0;
  int64_t kept_blocks = 0;
  int64_t blocks = 0;
  int64_t bytes_dense = 0;
  int64_t bytes_sparse = 0;
  // Multiply-adds of one sample in all prunable layers; earlier versions did not count them.
  std::optional<int64_t> products_dense = {};
  std::optional<int64_t> products_sparse = {};
  // Of these layers by the file of costs, under a budget of milliseconds.
  std::optional<double> expected_ms_dense = {};
  std::optional<double> expected_ms_sparse = {};
  double seconds = 0;
  // Of the dense model beside it, where one was trained.
  std::optional<Metrics> dense_metrics = {};
  std::optional<double> dense_seconds = {};
  std::optional<std::string> sparse_execution = {};  // none: the dense model beside another run
};

Json to_json(const Summary& summary);

void write_summary(const std::filesystem::path& path, const Summary& summary);
/// Throws FormatError, naming the file and the key, where it is not a run's summary.
Summary read_summary(const std::filesystem::path& path);
/// The same of JSON that was read already.
Summary summary_in(const Json& json, const std::string& where);

}  // namespace hewn::run
