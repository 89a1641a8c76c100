// SPDX-License-Identifier: Apache-2.0
// What confinement costs once a command runs. The work measures itself, so that starting is left out.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

// Single calls, which a supervisor makes on behalf of the command where there is no view.
struct SingleCall {
  std::string name = {};
  void (*call)() = nullptr;
};

const SingleCall calls[] = {
    {"open for writing",
     [] {
       const int fd = ::open("call", O_WRONLY | O_CREAT, 0600);
       if (fd >= 0) ::close(fd);
     }},
    {"open /dev/null for writing",
     [] {
       const int fd = ::open("/dev/null", O_WRONLY);
       if (fd >= 0) ::close(fd);
     }},
    {"chmod", [] { ::chmod("call", 0600); }},
    {"open for reading",
     [] {
       const int fd = ::open("call", O_RDONLY);
       if (fd >= 0) ::close(fd);
     }},
};

double median_of(void (*call)()) {
  std::vector<double> taken(2000);
  for (auto& one : taken) one = micros_of(call);
  return median(std::move(taken));
}

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

std::vector<std::string> without_namespaces(const std::string& harn, const std::string& directory, const std::vector<std::string>& words) {
  std::vector<std::string> out = {"/usr/bin/env", "HARN_PRETEND=userns=no", harn, "run", "--backend", "linux", "--read", directory, "--"};
  out.insert(out.end(), words.begin(), words.end());
  return out;
}

}  // namespace

int do_work(const std::string& name) {
  for (const auto& single : calls) {
    if (single.name != name) continue;
    ::close(::open("call", O_WRONLY | O_CREAT, 0600));
    fmt::print("{}\n", median_of(single.call));
    return 0;
  }
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
    const auto alone = without_namespaces(harn, directory, words);
    cases.push_back({work.name + ", harn run without namespaces", "<= 1.10", [alone] { return std::stod(output_of(alone)); }});
    run_in_turns(cases, rounds);
    print_ratios(cases, "us");
  }
  fmt::print("\nOne call without namespaces; a supervised one may take 25 us more\n");
  for (const auto& single : calls) {
    const std::vector<std::string> words = {self, "--work", single.name};
    const auto alone = without_namespaces(harn, directory, words);
    std::vector<Case> cases;
    cases.push_back({single.name + ", bare", "", [words] { return std::stod(output_of(words)); }});
    cases.push_back({single.name + ", supervised", "", [alone] { return std::stod(output_of(alone)); }});
    run_in_turns(cases, std::min(rounds, 5));
    print_ratios(cases, "us");
  }
}

}  // namespace harn::bench
