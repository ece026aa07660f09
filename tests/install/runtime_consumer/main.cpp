// Runs a model file with the installed runtime alone, from C++ and from C.
#include <hewn/runtime/model.h>

#include <iostream>
#include <vector>

extern "C" int outputs_from_c(const char* path);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  hewn::runtime::Model model = hewn::runtime::Model::load(argv[1]);
  const std::vector<float> input(static_cast<size_t>(3 * model.inputs()), 1.0F);
  std::vector<float> output(static_cast<size_t>(3 * model.outputs()));
  model.run(input.data(), 3, output.data());
  std::cout << output[0] << '\n';
  return outputs_from_c(argv[1]) == model.outputs() ? 0 : 1;
}
