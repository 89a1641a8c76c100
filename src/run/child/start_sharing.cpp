// SPDX-License-Identifier: Apache-2.0
// The only clone in the tree. libc's wrapper would set errno on failure, which belongs to a thread
// of the caller when the outer child starts the inner one.
#include <sched.h>
#include <sys/syscall.h>

#include "run/child/replay.h"

namespace harn::run::child {

namespace {

#if defined(__x86_64__)
Word start(Word flags, char* stack_top, int* pidfd, int (*function)(void*), void* argument) noexcept {
  Word result = SYS_clone;
  register int* tid asm("rdx") = pidfd;
  register Word unused_tid asm("r10") = 0;
  register Word unused_tls asm("r8") = 0;
  register auto entry asm("r12") = function;
  register auto* given asm("r13") = argument;
  asm volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xor %%ebp, %%ebp\n\t"
      "mov %%r13, %%rdi\n\t"
      "call *%%r12\n\t"
      "mov %%eax, %%edi\n\t"
      "mov %[exit], %%eax\n\t"
      "syscall\n\t"
      "1:"
      : "+a"(result)
      : "D"(flags), "S"(stack_top), "r"(tid), "r"(unused_tid), "r"(unused_tls), "r"(entry), "r"(given), [exit] "i"(SYS_exit_group)
      : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
Word start(Word flags, char* stack_top, int* pidfd, int (*function)(void*), void* argument) noexcept {
  register Word number asm("x8") = SYS_clone;
  register Word result asm("x0") = flags;
  register char* stack asm("x1") = stack_top;
  register int* tid asm("x2") = pidfd;
  register Word tls asm("x3") = 0;
  register Word child_tid asm("x4") = 0;
  register auto entry asm("x20") = function;
  register auto* given asm("x21") = argument;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, #0\n\t"
      "mov x0, x21\n\t"
      "blr x20\n\t"
      "mov x8, %[exit]\n\t"
      "svc #0\n\t"
      "1:"
      : "+r"(result)
      : "r"(number), "r"(stack), "r"(tid), "r"(tls), "r"(child_tid), "r"(entry), "r"(given), [exit] "i"(SYS_exit_group)
      : "x30", "memory");
  return result;
}
#endif

}  // namespace

Word start_sharing(Word flags, char* stack_top, int* pidfd, int (*function)(void*), void* argument) noexcept {
  return start(flags | CLONE_VM | CLONE_VFORK, stack_top, pidfd, function, argument);
}

Word start_beside(Word flags, char* stack_top, int (*function)(void*), void* argument) noexcept {
  return start(flags | CLONE_VM, stack_top, nullptr, function, argument);
}

}  // namespace harn::run::child
