#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "hewn/data/info.h"
#include "hewn/nn/model.h"
#include "hewn/run/options.h"

namespace hewn::train {

/// What a data set's inputs and targets are, for a model.
nn::Signature signature_of(const data::DataInfo& info);

/// What a model takes and gives for a data set (NAME or NAME:PATH, not opened), or where that is empty for
/// the one that it is made for.
nn::Signature signature_for(const std::string& model, const std::string& data);

/// The model for that data, with weights drawn from the seed. Throws Error where it is made for another kind
/// of data.
std::shared_ptr<nn::Model> build_model(const run::Options& options, const nn::Signature& signature);

/// Moves a model, with convolutions in the memory order that is fastest there: channels-last on CUDA. cuDNN
/// is kept to algorithms that repeat bit for bit; with `cudnn_benchmark` it may choose by speed.
void move_to(nn::Model& model, c10::Device device, bool cudnn_benchmark);

}  // namespace hewn::train
