/* Compiled as C: the header must be plain C, and no C++ may be needed to call it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hewn/runtime/c_api.h"

#define CHECK(condition)                                  \
  if (!(condition)) {                                     \
    printf("line %d: %s\n", __LINE__, hewn_last_error()); \
    return __LINE__;                                      \
  }

/* Loads `path`, runs `batch` samples, and tries what a careless caller does. Returns 0, or the failing line.
 */
int use_model_from_c(const char* path, const float* input, int64_t batch, float* output) {
  int64_t shape[3];
  hewn_model* model = hewn_model_load(path);
  CHECK(model != NULL);
  CHECK(hewn_model_input_shape(model, shape) == 0);
  CHECK(hewn_model_inputs(model) == shape[0] * shape[1] * shape[2]);
  CHECK(hewn_model_outputs(model) > 0);
  CHECK(hewn_model_classes(model) == 0 || hewn_model_classes(model) == hewn_model_outputs(model));
  for (int64_t i = 0; i < hewn_model_classes(model); ++i) CHECK(strlen(hewn_model_class_name(model, i)) == 3);
  CHECK(hewn_model_class_name(model, -1) == NULL);
  CHECK(hewn_model_class_name(model, hewn_model_classes(model)) == NULL);
  CHECK(strstr(hewn_last_error(), "hewn_model_class_name") != NULL);
  CHECK(hewn_model_set_threads(model, 1) == 0);
  CHECK(hewn_model_run(model, input, batch, output) == 0);
  CHECK(hewn_model_run(model, NULL, 0, NULL) == 0);

  hewn_model* copy = hewn_model_copy(model);
  CHECK(copy != NULL);
  hewn_model_free(model);
  CHECK(hewn_model_run(copy, input, batch, output) == 0);

  CHECK(hewn_model_run(copy, NULL, 1, output) == -1);
  CHECK(strstr(hewn_last_error(), "input is null") != NULL);
  CHECK(hewn_model_run(copy, input, 1, NULL) == -1);
  CHECK(hewn_model_run(copy, input, -1, output) == -1);
  CHECK(hewn_model_set_threads(copy, -1) == -1);
  CHECK(hewn_model_set_threads(copy, 1000000000) == -1);
  CHECK(hewn_model_input_shape(copy, NULL) == -1);
  hewn_model_free(copy);

  CHECK(hewn_model_load(NULL) == NULL);
  CHECK(hewn_model_load("/nowhere/model.hewn") == NULL);
  CHECK(strstr(hewn_last_error(), "/nowhere/model.hewn") != NULL);
  CHECK(hewn_model_copy(NULL) == NULL);
  CHECK(hewn_model_inputs(NULL) == -1);
  CHECK(hewn_model_outputs(NULL) == -1);
  CHECK(hewn_model_classes(NULL) == -1);
  CHECK(hewn_model_class_name(NULL, 0) == NULL);
  CHECK(hewn_model_run(NULL, input, 1, output) == -1);
  CHECK(hewn_model_set_threads(NULL, 1) == -1);
  hewn_model_free(NULL);
  return 0;
}
