/* Compiled as C: the header must be plain C, and no C++ may be needed to call it. */
#include <stdio.h>
#include <string.h>

#include "hewn/onnx/c_api.h"

#define CHECK(condition)                                  \
  if (!(condition)) {                                     \
    printf("line %d: %s\n", __LINE__, hewn_last_error()); \
    return __LINE__;                                      \
  }

/* What the network of the test says of itself. */
static int check_ports(const hewn_network* network) {
  int64_t count = 0;
  hewn_tensor port;
  CHECK(hewn_network_input_count(network, &count) == HEWN_OK && count == 3);
  CHECK(hewn_network_output_count(network, &count) == HEWN_OK && count == 3);
  CHECK(hewn_network_input(network, 0, &port) == HEWN_OK);
  CHECK(strcmp(port.name, "ids") == 0 && port.type == HEWN_INT64 && port.rank == 2 && port.data == NULL);
  CHECK(port.dims[0] < 0 && port.dims[1] < 0);
  CHECK(hewn_network_input(network, 1, &port) == HEWN_OK);
  CHECK(strcmp(port.name, "mask") == 0 && port.type == HEWN_BOOL && port.rank == 2);
  CHECK(hewn_network_input(network, 2, &port) == HEWN_OK);
  CHECK(strcmp(port.name, "scale") == 0 && port.type == HEWN_FLOAT && port.rank == 0);
  CHECK(hewn_network_output(network, 0, &port) == HEWN_OK);
  CHECK(strcmp(port.name, "y") == 0 && port.type == HEWN_FLOAT && port.rank == 3 && port.dims[2] == 8);
  CHECK(hewn_network_output(network, 3, &port) == HEWN_BAD_CALL);
  CHECK(strstr(hewn_last_error(), "expected 0 to below 3, got 3") != NULL);
  CHECK(hewn_network_input(network, -1, &port) == HEWN_BAD_CALL);
  return 0;
}

/* What a careless caller does: each is answered, none ends the program. */
static int check_misuse(hewn_network* network, const hewn_tensor good[3]) {
  hewn_tensor bad[3];
  hewn_tensor result;
  hewn_network* other = network;
  const int64_t huge[2] = {INT64_MAX, 4};
  const int64_t negative[2] = {-1, 4};
  const uint8_t seven[64] = {7};
  CHECK(hewn_network_run(network, good, 2) == HEWN_BAD_CALL);
  CHECK(strstr(hewn_last_error(), "has 3 inputs, but 2 came") != NULL);
  CHECK(hewn_network_result(network, 0, &result) == HEWN_BAD_CALL);
  CHECK(hewn_network_run(network, NULL, 3) == HEWN_BAD_CALL);
  CHECK(hewn_network_run(network, good, -1) == HEWN_BAD_CALL);
  CHECK(hewn_network_run(NULL, good, 3) == HEWN_BAD_CALL);
#define TRY(place, field, value, words)                      \
  memcpy(bad, good, sizeof bad);                             \
  bad[place].field = (value);                                \
  CHECK(hewn_network_run(network, bad, 3) == HEWN_BAD_CALL); \
  CHECK(strstr(hewn_last_error(), words) != NULL);
  TRY(0, type, HEWN_FLOAT, "input ids: expected int64 ?x?, got float")
  TRY(0, type, 9, "input ids: type: expected HEWN_FLOAT")
  TRY(0, rank, -1, "rank: expected 0 to 64, got -1")
  TRY(0, rank, 1, "input ids: expected int64 ?x?, got int64")
  TRY(0, dims, NULL, "dims is null")
  TRY(0, dims, huge, "elements")
  TRY(0, dims, negative, "cannot be")
  TRY(0, data, NULL, "input ids: data is null")
  TRY(1, data, seven, "input mask: a bool is neither 0 nor 1")
  TRY(0, name, "nobody", "has no input \"nobody\"")
  TRY(0, name, "mask", "input mask came twice")
  CHECK(hewn_network_set_threads(network, -1) == HEWN_BAD_CALL);
  CHECK(hewn_network_set_threads(network, 1000000000) == HEWN_BAD_CALL);
  CHECK(hewn_network_load("/nowhere/model.onnx", &other) == HEWN_BAD_FILE && other == NULL);
  CHECK(strstr(hewn_last_error(), "/nowhere/model.onnx") != NULL);
  CHECK(hewn_network_load(NULL, &other) == HEWN_BAD_CALL);
  CHECK(hewn_network_load("/nowhere/model.onnx", NULL) == HEWN_BAD_CALL);
  CHECK(hewn_network_copy(NULL, &other) == HEWN_BAD_CALL && other == NULL);
  CHECK(hewn_network_input_count(NULL, NULL) == HEWN_BAD_CALL);
  CHECK(hewn_network_result(NULL, 0, &result) == HEWN_BAD_CALL);
  hewn_network_free(NULL);
  return 0;
}

/* Runs a copy on the three inputs, which stand in another order than the network's; the caller gets its
 * first output. Returns 0, or the failing line. */
int use_network_from_c(const char* path, const hewn_tensor inputs[3], float* y) {
  hewn_network* network = NULL;
  hewn_network* copy = NULL;
  hewn_tensor result;
  int64_t elements = 1;
  CHECK(hewn_network_load(path, &network) == HEWN_OK && network != NULL);
  if (check_ports(network) != 0) return __LINE__;
  CHECK(hewn_network_result(network, 0, &result) == HEWN_BAD_CALL);
  CHECK(hewn_network_set_threads(network, 1) == HEWN_OK);
  CHECK(hewn_network_copy(network, &copy) == HEWN_OK);
  hewn_network_free(network);
  const hewn_tensor turned[3] = {inputs[2], inputs[0], inputs[1]};
  CHECK(hewn_network_run(copy, turned, 3) == HEWN_OK);
  CHECK(hewn_network_result(copy, 0, &result) == HEWN_OK);
  CHECK(strcmp(result.name, "y") == 0 && result.rank == 3);
  for (int i = 0; i < 3; ++i) elements *= result.dims[i];
  memcpy(y, result.data, (size_t)elements * sizeof(float));
  CHECK(hewn_network_result(copy, 1, &result) == HEWN_OK && result.type == HEWN_INT64 && result.rank == 2);
  CHECK(hewn_network_result(copy, 2, &result) == HEWN_OK && result.type == HEWN_BOOL && result.rank == 2);
  CHECK(hewn_network_result(copy, 3, &result) == HEWN_BAD_CALL);
  if (check_misuse(copy, inputs) != 0) return __LINE__;
  CHECK(hewn_network_run(copy, inputs, 3) == HEWN_OK); /* as if nothing had happened */
  hewn_network_free(copy);
  return 0;
}
