// SPDX-License-Identifier: Apache-2.0
// System calls without libc: no errno, no cancellation points, no locks. What runs between clone and
// exec shares its memory with the caller, so it may touch nothing that the caller's threads use.
#pragma once

namespace harn::run::child {

using Word = long;

// The kernel's answer: a value, or -errno.
#if defined(__x86_64__)
inline Word raw_syscall(Word number, Word a = 0, Word b = 0, Word c = 0, Word d = 0, Word e = 0, Word f = 0) {
  Word result = number;
  register Word r10 asm("r10") = d;
  register Word r8 asm("r8") = e;
  register Word r9 asm("r9") = f;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline Word raw_syscall(Word number, Word a = 0, Word b = 0, Word c = 0, Word d = 0, Word e = 0, Word f = 0) {
  register Word x8 asm("x8") = number;
  register Word x0 asm("x0") = a;
  register Word x1 asm("x1") = b;
  register Word x2 asm("x2") = c;
  register Word x3 asm("x3") = d;
  register Word x4 asm("x4") = e;
  register Word x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
#else
#error "raw_syscall is written for x86_64 and aarch64"
#endif

template <class T>
Word word_of(T* pointer) {
  return reinterpret_cast<Word>(pointer);
}

}  // namespace harn::run::child
