#pragma once

#include <cstdint>
#include <filesystem>

#include "hewn/core/json.h"
#include "hewn/deploy/predict.h"

namespace hewn::deploy {

/// Throws Error where write_predictions does not know the file's suffix: asked before anything is run.
void check_predictions_file(const std::filesystem::path& path);

/// Throws Error where that many classes of a sample cannot be given.
void check_top_k(int64_t top_k, const Predictions& predictions);

/// By its suffix. .csv, with a header line: sample,class,score of classifiers, sample,output of others; with
/// columns for files and names of classes where there are any, and for the second to the `top_k`-th class.
/// .npy: the raw outputs, samples x outputs. .npz: these as the array "output". .json: to_json.
void write_predictions(const std::filesystem::path& path, const Predictions& predictions, int64_t top_k = 1);

/// Files, where there are any; classes and scores, of classifiers; and the raw outputs. `top_k` above 1 adds
/// so many classes of each sample, with their probabilities.
Json to_json(const Predictions& predictions, int64_t top_k = 1);

/// The raw outputs as the tensor "logits" of a safetensors file.
void write_logits(const std::filesystem::path& path, const Predictions& predictions);

}  // namespace hewn::deploy
