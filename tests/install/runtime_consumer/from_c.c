#include <hewn/runtime/c_api.h>

int outputs_from_c(const char* path) {
  hewn_model* model = hewn_model_load(path);
  const int64_t outputs = hewn_model_outputs(model);
  hewn_model_free(model);
  return (int)outputs;
}
