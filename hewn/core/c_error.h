#ifndef HEWN_CORE_C_ERROR_H
#define HEWN_CORE_C_ERROR_H

/* What every C header of hewn shares: what went wrong. */

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong last in this thread: one line, "" before anything has. Valid until the next failing call.
 */
const char* hewn_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
