// SPDX-License-Identifier: Apache-2.0
#include "run/smaps.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace harn::run {
namespace {

TEST(Smaps, ReadsMappingsAndWhatIsResidentOfThem) {
  const auto mappings = parse_smaps(
      "7f0000000000-7f0000400000 rw-s 00001000 00:01 1029                       /memfd:x (deleted)\n"
      "Size:               4096 kB\nRss:                 800 kB\nPss:                 400 kB\nAnonymous:             8 kB\n"
      "VmFlags: rd wr sh mr mw me ms sd\n"
      "7f0000400000-7f0000401000 rw-s 00000000 00:01 32769                      /SYSV00000000 (deleted)\n"
      "Pss:                   4 kB\n");
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].size, 4u << 20);
  EXPECT_EQ(mappings[0].offset, 4096u);
  EXPECT_EQ(mappings[0].device, makedev(0, 1));
  EXPECT_EQ(mappings[0].inode, 1029u);
  EXPECT_EQ(mappings[0].proportion, 400u << 10);
  EXPECT_EQ(mappings[0].anonymous, 8u << 10);
  EXPECT_FALSE(mappings[0].system_v);
  EXPECT_TRUE(mappings[1].system_v);
  EXPECT_TRUE(parse_smaps("").empty());
  EXPECT_TRUE(parse_smaps("no mapping at all, whatever it says\nPss: 4 kB\n").empty());
}

TEST(Smaps, ASharedMappingIsThereWhatIsDroppedOfItIsNot) {
  constexpr std::size_t size = (3u << 20) + (7u << 12);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto resident = [&] {
    std::ostringstream text;
    text << std::ifstream("/proc/self/smaps").rdbuf();
    const auto mappings = parse_smaps(text.str());
    const auto found = std::ranges::find(mappings, size, &Mapping::size);
    return found == mappings.end() ? -1 : static_cast<long>(found->proportion);
  };
  std::memset(memory, 1, size);
  EXPECT_EQ(resident(), static_cast<long>(size));
  ASSERT_EQ(::madvise(memory, size, MADV_DONTNEED), 0);
  EXPECT_EQ(resident(), 0);
  ::munmap(memory, size);
}

}  // namespace
}  // namespace harn::run
