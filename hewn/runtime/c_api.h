#ifndef HEWN_RUNTIME_C_API_H
#define HEWN_RUNTIME_C_API_H

/* The runtime from C, and from any language that can call C. Functions that return int return 0 where all
 * went well and -1 where not; hewn_last_error() then says why. Null pointers are answered with an error. */

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): a C header

#include "hewn/core/c_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Use a model from one thread at a time; hewn_model_copy makes another that shares its weights. */
typedef struct hewn_model hewn_model;  // NOLINT(modernize-use-using): a C header

/* Both return null on failure. */
hewn_model* hewn_model_load(const char* path);
hewn_model* hewn_model_copy(const hewn_model* model);
/* Null is allowed. */
void hewn_model_free(hewn_model* model);

/* Channels, height and width of one sample. */
int hewn_model_input_shape(const hewn_model* model, int64_t shape[3]);
/* Floats of one sample's input and output; -1 on failure. */
int64_t hewn_model_inputs(const hewn_model* model);
int64_t hewn_model_outputs(const hewn_model* model);
/* How many class names the model has, 0 where it has none; -1 on failure. Name i is that of output i, or of
 * no (0) and yes (1) where there is one output. It is valid as long as the model; null on failure. */
int64_t hewn_model_classes(const hewn_model* model);
const char* hewn_model_class_name(const hewn_model* model, int64_t i);

/* 0: all cores. */
int hewn_model_set_threads(hewn_model* model, int threads);

/* input: batch x channels x height x width floats; output: batch x outputs. A model that looks up the values
 * of fields (a click log) takes their numbers: whole numbers, exact as floats, from 0 to below the field's
 * vocabulary. A sample with anything else among them comes out as NaN, which is no failure. */
int hewn_model_run(hewn_model* model, const float* input, int64_t batch, float* output);

#ifdef __cplusplus
}
#endif

#endif
