// SPDX-License-Identifier: Apache-2.0
// End-to-end tests as text. One file holds several scenarios; each has a directory of its own, {TMP}.
//
//   === a broken policy is named by place
//   file p.toml                 a file, its lines after "| "
//   | sandbox_profile = "x"
//   dir a/b                     a directory
//   link name target            a symbolic link
//   env NAME=VALUE              for the commands below; HOME is {TMP}/home, the rest is minimal
//   cd a                        working directory, {TMP} at first
//   $ harn policy check p.toml  words, split at spaces, '…' keeps spaces
//   exit 2                      what must be true of the command above
//   err harn: p.toml:1:19: …    a whole line of stderr; out for stdout
//   err* some text              a part of it
//   out! some text              not a part of it
//   out empty                   nothing at all
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace harn::test {

struct Line {
  std::size_t number = 0;
  std::string keyword = {};
  std::string rest = {};
};

struct Scenario {
  std::string file = {};
  std::string title = {};
  std::vector<Line> lines = {};
};

// A line without a keyword, or outside a scenario, ends up as a scenario that fails.
std::vector<Scenario> read_scenarios(const std::string& file_name, std::string_view text);

// Plays it; returns what went wrong, one line each. Empty = as expected.
std::vector<std::string> play(const Scenario& scenario);

}  // namespace harn::test
