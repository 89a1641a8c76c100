// SPDX-License-Identifier: Apache-2.0
// SHA-256 by the instructions of x86-64 processors that have them.
#include <cstdlib>

#include "base/sha256_rounds.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
#define HARN_SHA_INSTRUCTIONS 1
#endif
#endif

#ifdef HARN_SHA_INSTRUCTIONS
#include <immintrin.h>

// What the C library asked the processor when the program began: asking again traps in a virtual machine. Its own header is
// written for C, and not for every compiler.
struct cpuid_feature {
  unsigned int asked[4];  // eax, ebx, ecx, edx
  unsigned int active[4];
};
extern "C" const cpuid_feature* __x86_get_cpuid_feature_leaf(unsigned int index);

namespace harn::base {
namespace {

constexpr unsigned leaf_1 = 0;
constexpr unsigned leaf_7 = 1;
constexpr unsigned ebx = 1;
constexpr unsigned ecx = 2;

bool are_there() {
  const bool sse41 = (__x86_get_cpuid_feature_leaf(leaf_1)->asked[ecx] >> 19 & 1) != 0;
  return sse41 && (__x86_get_cpuid_feature_leaf(leaf_7)->asked[ebx] >> 29 & 1) != 0;
}

// The instructions want the words of the state in two registers, as a b e f and c d g h from the highest down.
[[gnu::target("sha,sse4.1")]] void add_blocks(Sha256State& state, const char* bytes, std::size_t blocks) {
  const auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  const __m128i badc = _mm_shuffle_epi32(load(state.data()), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(load(&state[4]), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, badc, 0xF0);
  for (; blocks != 0; --blocks, bytes += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4] = {};
    for (std::size_t i = 0; i < 4; ++i) words[i] = _mm_shuffle_epi8(load(bytes + 16 * i), big_endian);
    for (std::size_t four = 0; four < 16; ++four) {
      const __m128i now = words[four % 4];
      __m128i added = _mm_add_epi32(now, load(&sha256_constants[4 * four]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
      added = _mm_shuffle_epi32(added, 0x0E);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, added);
      // The four words sixteen places on take the place of those just used.
      const __m128i last = words[(four + 3) % 4];
      const __m128i seven_back = _mm_alignr_epi8(last, words[(four + 2) % 4], 4);
      words[four % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(now, words[(four + 1) % 4]), seven_back), last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace

bool add_blocks_by_instruction(Sha256State& state, const char* bytes, std::size_t blocks) {
  if (!are_there()) return false;
  add_blocks(state, bytes, blocks);
  return true;
}

}  // namespace harn::base
#else
namespace harn::base {

bool add_blocks_by_instruction(Sha256State&, const char*, std::size_t) { return false; }

}  // namespace harn::base
#endif
