#include "hewn/kernels/matrix/matrix_tile.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace hewn::kernels {

#if defined(__x86_64__) && defined(__linux__)
namespace {

bool asked() {
  constexpr unsigned kLeaf = 7;
  constexpr unsigned kAmxBits = 1U << 22 | 1U << 24 | 1U << 25;  // bf16, tiles, int8
  constexpr long kRequestPermission = 0x1023;                    // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(kLeaf, 0, &a, &b, &c, &d) == 0 || (d & kAmxBits) != kAmxBits) return false;
  // Linux keeps the state of tiles for processes that ask for it.
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool has_matrix_tiles() {
  static const bool has = asked();
  return has;
}
#else
bool has_matrix_tiles() { return false; }
#endif

}  // namespace hewn::kernels
