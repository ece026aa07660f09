#pragma once

namespace hewn::cli {

// Loading LibTorch costs half a second of CPU time on some systems. So there are two programs of the same
// sources: hewn, which has no LibTorch and answers by itself what needs none, and hewn-torch, which has it
// and which hewn becomes for the rest.

/// What hewn throws where it cannot go on without LibTorch.
struct HandOver {};

/// Throws HandOver in hewn and does nothing in hewn-torch.
void reach_torch();

/// Becomes hewn-torch, with the same arguments. Throws Error where it is not found, saying where it was
/// looked for.
[[noreturn]] void become_torch_program(char** argv);

}  // namespace hewn::cli
