// SPDX-License-Identifier: Apache-2.0
// What confinement costs once a command runs. The work measures itself, so that starting is left out.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
    {"npm test", "npm test --silent"},
};

// Single calls, which a supervisor makes on behalf of the command where there is no view.
struct SingleCall {
  std::string name = {};
  void (*call)() = nullptr;
};

const sockaddr_un own_name = {.sun_family = AF_UNIX, .sun_path = "call.sock"};

int own_server() {
  static const int server = [] {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ::unlink(own_name.sun_path);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&own_name), sizeof own_name) == 0) ::listen(fd, 8);
    return fd;
  }();
  return server;
}

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
    {"connect to a Unix socket",
     [] {
       const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
       if (::connect(client, reinterpret_cast<const sockaddr*>(&own_name), sizeof own_name) == 0)
         ::close(::accept(own_server(), nullptr, nullptr));
       ::close(client);
     }},
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
  std::ofstream(workspace.join("package.json").text()) << R"({"name": "x", "version": "1.0.0", "scripts": {"test": "node test.js"}})";
  std::ofstream(workspace.join("test.js").text())
      << "const fs = require('fs');\nfor (let i = 0; i < 300; ++i) {\n  fs.writeFileSync('t', String(i));\n"
         "  if (fs.readFileSync('t', 'utf8') !== String(i)) process.exit(1);\n}\nfs.unlinkSync('t');\n";
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
    own_server();
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
    if (work.name.starts_with("npm") && ::system("command -v npm >/dev/null 2>&1") != 0) continue;
    std::vector<Case> cases;
    const std::vector<std::string> words = {self, "--work", work.name};
    auto confined = std::vector<std::string>{harn, "run", "--read", directory, "--"};
    confined.insert(confined.end(), words.begin(), words.end());
    cases.push_back({work.name + ", bare", "", [words] { return std::stod(output_of(words)); }});
    const std::vector<std::string> floor = {self, "--work-in-two-layers", work.name};
    cases.push_back({work.name + ", the kernel's own price", "", [floor] { return std::stod(output_of(floor)); }});
    cases.push_back({work.name + ", harn run", "<= 1.05", [confined] { return std::stod(output_of(confined)); }});
    const auto alone = without_namespaces(harn, directory, words);
    cases.push_back({work.name + ", harn run without namespaces", "<= 1.10", [alone] { return std::stod(output_of(alone)); }});
    auto explained = confined;
    explained.insert(explained.begin() + 2, "--explain");
    cases.push_back({work.name + ", harn run --explain", "<= 2.00", [explained] { return std::stod(output_of(explained)); }});
    auto both = alone;
    both.insert(std::ranges::find(both, "run") + 1, "--explain");
    cases.push_back({work.name + ", --explain without namespaces", "<= 2.00", [both] { return std::stod(output_of(both)); }});
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
