// What follows, up to end_target.h, is compiled for the instructions that HEWN_BYTES_TARGET names. No header
// may be included in between but those of simd/: what others define inline could be called where the
// processor does not have them.
#define HEWN_BYTES_INLINE inline __attribute__((always_inline))
#define HEWN_BYTES_ATTRIBUTE
#define HEWN_BYTES_LAMBDA __attribute__((always_inline))
#define HEWN_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define HEWN_BYTES_BEGIN(names) \
  HEWN_PRAGMA(clang attribute push(__attribute__((target(names))), apply_to = function))
#else
#define HEWN_BYTES_BEGIN(names) HEWN_PRAGMA(GCC push_options) HEWN_PRAGMA(GCC target(names))
#endif
HEWN_BYTES_BEGIN(HEWN_BYTES_TARGET)
