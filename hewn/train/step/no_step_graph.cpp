#include "hewn/core/error.h"
#include "hewn/train/step/step_graph.h"

namespace hewn::train {

struct StepGraph::Recording {};
struct StepGraph::Pool {};

StepGraph::StepGraph() { throw Error("CUDA graphs: this build has no CUDA; configure with -DHEWN_CUDA=ON"); }
StepGraph::~StepGraph() = default;
bool StepGraph::available() { return false; }
void StepGraph::run(int64_t, const data::Batch&, const Work&) {}

struct RecordableStream::Guard {};
RecordableStream::RecordableStream(c10::Device) {}
RecordableStream::~RecordableStream() = default;

}  // namespace hewn::train
