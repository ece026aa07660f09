#ifndef HEWN_ONNX_C_API_H
#define HEWN_ONNX_C_API_H

/* Networks of general tensors from C, and from any language that can call C: ONNX files and model.hewn files
 * that were made of them (version 3), with any number of named inputs and outputs of any rank. Models that
 * `hewn export` writes as version 2 have their own functions, in hewn/runtime/c_api.h.
 *
 * All functions answer with one of the codes below; hewn_last_error() says more. Null pointers are answered
 * with HEWN_BAD_CALL. */

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): a C header

#include "hewn/core/c_error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HEWN_OK = 0,
  HEWN_BAD_CALL = -1,  /* an argument that cannot be: null, out of range, a shape that does not fit */
  HEWN_BAD_FILE = -2,  /* the file cannot be read, or is not what it should be */
  HEWN_NO_MEMORY = -3, /* there is not enough of it */
  HEWN_FAILED = -4     /* anything else */
};

/* Elements of a tensor: 32-bit floats, 64-bit integers, bytes that are 0 or 1. */
enum { HEWN_FLOAT = 0, HEWN_INT64 = 1, HEWN_BOOL = 2 };

/* Row-major. As an input or output of a network before it runs: dims below 0 are open, data is null. */
typedef struct hewn_tensor {  // NOLINT(modernize-use-using): a C header
  const char* name;           /* of the input or output; null as an argument: the one at this place */
  int32_t type;
  int32_t rank;        /* 0: one number */
  const int64_t* dims; /* rank of them; may be null where rank is 0 */
  const void* data;
} hewn_tensor;

/* Use a network from one thread at a time; hewn_network_copy makes another that shares its weights. */
typedef struct hewn_network hewn_network;  // NOLINT(modernize-use-using): a C header

/* Both set *network to null where they fail. */
int32_t hewn_network_load(const char* path, hewn_network** network);
int32_t hewn_network_copy(const hewn_network* original, hewn_network** network);
/* Null is allowed. */
void hewn_network_free(hewn_network* network);

/* 1 before it is called; 0: all cores. Outputs do not depend on it, bit for bit. */
int32_t hewn_network_set_threads(hewn_network* network, int32_t threads);

/* How many there are, and what the i-th is. Names and dims are valid as long as the network. */
int32_t hewn_network_input_count(const hewn_network* network, int64_t* count);
int32_t hewn_network_output_count(const hewn_network* network, int64_t* count);
int32_t hewn_network_input(const hewn_network* network, int64_t i, hewn_tensor* input);
int32_t hewn_network_output(const hewn_network* network, int64_t i, hewn_tensor* output);

/* Runs on `count` inputs, one for each of the network's, in its order or by their names. They are only read,
 * and needed only during the call. The first call with inputs of new shapes makes a plan and allocates its
 * memory; calls that repeat the shapes of one of the last few plan nothing anew (docs/onnx.md says which
 * operators then allocate nothing). */
int32_t hewn_network_run(hewn_network* network, const hewn_tensor* inputs, int64_t count);

/* The i-th output of the last run, where it went well, with its true dims. It lies in the network's memory:
 * valid until it runs again or is freed. */
int32_t hewn_network_result(const hewn_network* network, int64_t i, hewn_tensor* result);

#ifdef __cplusplus
}
#endif

#endif
