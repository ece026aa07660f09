#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hewn/data/source.h"
#include "hewn/dist/place.h"
#include "hewn/nn/model.h"
#include "hewn/optimiser.h"
#include "hewn/tensor/state_dict.h"
#include "hewn/train/observer.h"
#include "hewn/train/options.h"

namespace hewn::train {

/// Cores that this process may run on.
int64_t usable_cores();

/// Sets LibTorch's and OpenBLAS's threads; 0 means all cores this process may use, shared with the others on
/// the machine. Returns the number.
int64_t set_threads(int64_t threads, const dist::Place& place = {});

/// "cpu", "cuda" or "cuda:N" as a device that is there; throws Error where it is not. "cuda" is the GPU with
/// the process's number on its machine.
at::Device find_device(const std::string& name, const dist::Place& place = {});

/// Sources report to the observer, which must outlive them.
data::DataOptions data_options(const TrainOptions& options, at::Device device, const dist::Place& place,
                               Observer& observer);

/// What a data set's inputs and targets are, for a model.
nn::Signature signature_of(const data::DataInfo& info);

/// What a model takes and gives for a data set (NAME or NAME:PATH, not opened), or where that is empty for
/// the one that it is made for.
nn::Signature signature_for(const std::string& model, const std::string& data);

/// The model for that data, with weights drawn from the seed. Throws Error where it is made for another kind
/// of data.
std::shared_ptr<nn::Model> build_model(const TrainOptions& options, const nn::Signature& signature);

/// Moves a model, with convolutions in the memory order that is fastest there: channels-last on CUDA. cuDNN
/// is kept to algorithms that repeat bit for bit; with `cudnn_benchmark` it may choose by speed.
void move_to(nn::Model& model, at::Device device, bool cudnn_benchmark);

OptimiserOptions optimiser_options(const TrainOptions& options);

}  // namespace hewn::train
