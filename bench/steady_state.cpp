// SPDX-License-Identifier: Apache-2.0
// What confinement costs once a command runs. The work measures itself, so that starting is left out.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "confined.h"

namespace harn::bench {
namespace {

struct Work {
  std::string name = {};
  std::string script = {};
};

const Work works[] = {
    {"compile", "g++ -O1 -c small.cpp -o small.o"},
    {"find", "find /usr/include /usr/lib /usr/share -type f | wc -l"},
    {"git status", "git status --porcelain"},
};

void write_project(const AbsPath& workspace) {
  std::ofstream(workspace.join("small.cpp").text()) << "#include <map>\n#include <string>\n#include <vector>\n"
                                                       "std::map<std::string, std::vector<int>> all;\n"
                                                       "void add(const std::string& name, int n) { all[name].push_back(n); }\n";
  for (int i = 0; i < 3000; ++i) {
    const auto directory = workspace.join(fmt::format("src/{}", i / 100));
    std::filesystem::create_directories(directory.text());
    std::ofstream(directory.join(fmt::format("{}.txt", i)).text()) << i;
  }
  spawn_and_wait({"/bin/sh", "-c", "git init -q . && git add -A && git -c user.name=x -c user.email=x@x commit -qm x"});
}

}  // namespace

int do_work(const std::string& name) {
  for (const auto& work : works) {
    if (work.name != name) continue;
    const auto script = work.script + " >/dev/null 2>&1";
    int status = 0;
    const double taken = micros_of([&] { status = ::system(script.c_str()); });
    fmt::print("{}\n", taken);
    return status == 0 ? 0 : 1;
  }
  return 2;
}

void bench_steady_state(const std::string& harn, const std::string& self, const AbsPath& workspace, int rounds) {
  write_project(workspace);
  const auto directory = std::filesystem::path(self).parent_path().string();
  fmt::print("\nWorking inside\n");
  for (const auto& work : works) {
    std::vector<Case> cases;
    const std::vector<std::string> words = {self, "--work", work.name};
    auto confined = std::vector<std::string>{harn, "run", "--read", directory, "--"};
    confined.insert(confined.end(), words.begin(), words.end());
    cases.push_back({work.name + ", bare", "", [words] { return std::stod(output_of(words)); }});
    cases.push_back({work.name + ", harn run", "<= 1.05", [confined] { return std::stod(output_of(confined)); }});
    run_in_turns(cases, rounds);
    print_ratios(cases, "us");
  }
}

}  // namespace harn::bench
