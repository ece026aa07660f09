// Runs a model file; links neither LibTorch nor anything else that is large.
// usage: run_model model.hewn
#include <hewn/runtime/model.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  hewn::runtime::Model model = hewn::runtime::Model::load(argv[1]);
  const std::vector<float> input(static_cast<size_t>(model.inputs()), 1.0F);
  std::vector<float> output(static_cast<size_t>(model.outputs()));
  model.run(input.data(), /*batch=*/1, output.data());
  for (const float value : output) std::printf("%.4f\n", value);
}
