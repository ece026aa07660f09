// Ends what begin_target.h began.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#undef HEWN_BYTES_BEGIN
#undef HEWN_PRAGMA
#undef HEWN_BYTES_LAMBDA
#undef HEWN_BYTES_ATTRIBUTE
#undef HEWN_BYTES_INLINE
#undef HEWN_BYTES_TARGET
