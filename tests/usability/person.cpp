// SPDX-License-Identifier: Apache-2.0
#include "usability/person.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ostream>

namespace harn::test {
namespace {

constexpr uid_t nobody_id = 65534;
constexpr int could_not_start = 98;

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

void place_stream(int given, int target) {
  const int fd = given >= 0 ? given : ::open("/dev/null", target == 0 ? O_RDONLY : O_WRONLY);
  if (fd == target) ::fcntl(fd, F_SETFD, 0);
  else if (::dup2(fd, target) < 0) ::_exit(could_not_start);
}

// The build directory may be closed for others.
bool open_for_others(std::filesystem::path path) {
  for (; path != path.root_path(); path = path.parent_path())
    if ((std::filesystem::status(path).permissions() & std::filesystem::perms::others_exec) == std::filesystem::perms::none) return false;
  return true;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Who who) { return out << (who == Who::caller ? "caller" : "nobody"); }

std::vector<Who> everybody() {
  if (::geteuid() != 0) return {Who::caller};
  return {Who::caller, Who::nobody};
}

Person::Person(Who who) : who_(who) {
  std::filesystem::permissions(temp_.root(), std::filesystem::perms(0755));
  project_ = temp_.directory("project").text();
  home_ = temp_.directory("home").text();
  give(project_);
  give(home_);
  program_ = HARN_BINARY;
  if (who == Who::nobody && !open_for_others(program_)) {
    program_ = temp_.path("harn").text();
    std::filesystem::copy_file(HARN_BINARY, program_);
  }
  environment_ = {
      {"HOME", home_}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}, {"TERM", "xterm"}, {"SHELL", "/bin/bash"}};
  // The same person on a host with less.
  if (const char* less = std::getenv("HARN_PRETEND"); less != nullptr) environment_["HARN_PRETEND"] = less;
}

void Person::give(const std::string& path) const {
  if (who_ == Who::nobody && ::lchown(path.c_str(), nobody_id, nobody_id) != 0) std::abort();
}

std::string Person::file(std::string_view relative, std::string_view text) const {
  const auto path = temp_.file(relative, text).text();
  // With the directories that came into being on the way.
  for (std::filesystem::path part = path; part != temp_.root(); part = part.parent_path()) give(part);
  return path;
}

std::vector<std::string> Person::harn_words(const std::vector<std::string>& words) const {
  std::vector<std::string> out;
  if (who_ == Who::nobody) out = {"/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
  out.insert(out.end(), through_.begin(), through_.end());
  out.push_back(program_);
  out.insert(out.end(), words.begin(), words.end());
  // The same person who wants to know what is refused.
  const char* explain = std::getenv("HARN_TEST_EXPLAIN");
  if (explain != nullptr && !words.empty() && words.front() == "run") out.insert(out.end() - std::ssize(words) + 1, "--explain");
  return out;
}

pid_t Person::start(const std::vector<std::string>& words, const Streams& streams) const {
  return start_program(harn_words(words), streams);
}

pid_t Person::start_program(const std::vector<std::string>& words, const Streams& streams) const {
  const pid_t child = ::fork();
  if (child == 0) become(words, streams);
  return child;
}

void Person::become(const std::vector<std::string>& words, const Streams& streams) const {
  auto kept_words = words;
  std::vector<std::string> pairs;
  for (const auto& [name, value] : environment_) pairs.push_back(name + "=" + value);
  const auto argv = pointers(kept_words);
  const auto envp = pointers(pairs);
  place_stream(streams.in, STDIN_FILENO);
  place_stream(streams.out, STDOUT_FILENO);
  place_stream(streams.err, STDERR_FILENO);
  if (::chdir(project_.c_str()) != 0) ::_exit(could_not_start);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(could_not_start);
}

// Files instead of pipes: however much a program says, nobody waits for a reader.
Finished Person::harn(const std::vector<std::string>& words, int input) const {
  const auto out_path = temp_.path("stdout").text();
  const auto err_path = temp_.path("stderr").text();
  const sys::UniqueFd out(::open(out_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const sys::UniqueFd err(::open(err_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const pid_t pid = start(words, {.in = input, .out = out.get(), .err = err.get()});
  const int code = finish(pid);
  return {.exit_code = code, .out = read_whole(out_path), .err = read_whole(err_path)};
}

int finish(pid_t pid, std::chrono::seconds patience) {
  const sys::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd end = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  const bool late = ::poll(&end, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) == 0;
  if (late) ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (late) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A file in /proc may end at any moment with its process.
std::string read_whole(const std::string& path) {
  const sys::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string out;
  std::string block(1u << 16, '\0');
  for (ssize_t got = 0; file && (got = ::read(file.get(), block.data(), block.size())) > 0;)
    out.append(block, 0, static_cast<std::size_t>(got));
  return out;
}

Pipe::Pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  reader = sys::UniqueFd(ends[0]);
  writer = sys::UniqueFd(ends[1]);
}

}  // namespace harn::test
