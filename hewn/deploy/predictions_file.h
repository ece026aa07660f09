#pragma once

#include <filesystem>

#include "hewn/core/json.h"
#include "hewn/deploy/predict.h"

namespace hewn::deploy {

/// Throws Error where write_predictions does not know the file's suffix: asked before anything is run.
void check_predictions_file(const std::filesystem::path& path);

/// By its suffix. .csv: sample,class,score with a header line, of classifiers; sample,output of others. .npy:
/// the raw outputs, samples x outputs. .npz: these as the array "output". .json: to_json.
void write_predictions(const std::filesystem::path& path, const Predictions& predictions);

/// Classes and scores, of classifiers, and the raw outputs.
Json to_json(const Predictions& predictions);

/// The raw outputs as the tensor "logits" of a safetensors file.
void write_logits(const std::filesystem::path& path, const Predictions& predictions);

}  // namespace hewn::deploy
