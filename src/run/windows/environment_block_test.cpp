// SPDX-License-Identifier: Apache-2.0
#include "run/windows/environment_block.h"

#include <gtest/gtest.h>

namespace harn::run::windows {
namespace {

using namespace std::string_literals;

TEST(EnvironmentBlock, IsSortedWithoutRegardToCaseAndEndsTwice) {
  EXPECT_EQ(*environment_block({{"b", "2"}, {"A", "1"}, {"_", "x=y"}, {"ü", "ä"}}), u"A=1\0b=2\0_=x=y\0ü=ä\0\0"s);
  EXPECT_EQ(*environment_block({}), u"\0\0"s);
}

TEST(EnvironmentBlock, KeepsTheDirectoriesOfDrives) { EXPECT_EQ(*environment_block({{"=C:", "C:\\x"}}), u"=C:=C:\\x\0\0"s); }

TEST(EnvironmentBlock, RefusesNamesThatMeanSomethingElse) {
  EXPECT_FALSE(environment_block({{"", "x"}}));
  EXPECT_FALSE(environment_block({{"a=b", "x"}}));
  EXPECT_FALSE(environment_block({{"a", "x\0y"s}}));
  EXPECT_FALSE(environment_block({{"a\0"s, "x"}}));
  EXPECT_FALSE(environment_block({{"Path", "x"}, {"PATH", "y"}}));
  EXPECT_FALSE(environment_block({{"a", "\xc3"}}));
}

TEST(EnvironmentBlock, TheContainersFolderReplacesWhateverSpellingTheCallerHas) {
  EXPECT_EQ(with_container_folder({{"Temp", "C:\\t"}, {"x", "@container:folder"}},
                                  {{"TEMP", "@container:folder\\Temp"}, {"TMP", "C:\\set"}}, "D:\\AC"),
            (Variables{{"TEMP", "D:\\AC\\Temp"}, {"TMP", "C:\\set"}, {"x", "@container:folder"}}));
}

TEST(EnvironmentBlock, FindsVariablesHoweverTheyAreSpelled) {
  EXPECT_EQ(variable({{"Path", "C:\\x"}}, "PATH"), "C:\\x");
  EXPECT_EQ(variable({}, "PATH"), "");
}

}  // namespace
}  // namespace harn::run::windows
