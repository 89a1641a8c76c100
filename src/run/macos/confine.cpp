// SPDX-License-Identifier: Apache-2.0
// sandbox-exec applies the profile to itself and becomes the command. What the child does is to become sandbox-exec;
// what is left to do here is to tell its exit codes from the command's.
#include "run/unix/confine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "harn/sandbox.h"
#include "plan/macos/sbpl_profile.h"
#include "run/macos/sandbox_exec.h"
#include "run/unix/spawn.h"
#include "sys/files.h"
#include "sys/own_directory.h"

namespace harn::run {
namespace {

constexpr std::string_view file_word = "@file:";

// A program that ends at once and with nothing but success, to ask whether a profile is understood.
constexpr const char* harmless_program = "/usr/bin/true";

// Of all the places where a shell would look, the first with something that can be run; ENOENT or EACCES.
int why_not_startable(const Plan& plan) {
  int why = ENOENT;
  for (const auto& place : places_of_program(plan.argv.front(), plan.env)) {
    const auto path = place.starts_with('/') ? AbsPath::parse(place) : Result<AbsPath>(plan.cwd.join(place));
    if (!path) continue;
    if (sys::is_executable(*path)) return 0;
    if (sys::target_type_of(*path) != sys::FileType::missing) why = EACCES;
  }
  return why;
}

// By our own reading of the profile, and before the command could change what it reads.
bool startable_inside(const Plan& plan) {
  std::string problem;
  const auto profile = plan::SbplProfile::parse(std::get<Wrapper>(plan.confinement).profile, problem);
  return profile && std::ranges::any_of(places_of_program(plan.argv.front(), plan.env), [&](const std::string& place) {
           const auto path = place.starts_with('/') ? AbsPath::parse(place) : Result<AbsPath>(plan.cwd.join(place));
           if (!path || !sys::is_executable(*path)) return false;
           const auto real = sys::real_path(*path);
           return real && profile->allows("process-exec", real->text());
         });
}

// The words of sandbox-exec, with the profile in a file of our own where it is too long for one.
Result<std::vector<std::string>> words_before(const Wrapper& wrapper, std::size_t command_words, std::optional<sys::OwnDirectory>& files) {
  std::vector<std::string> words(wrapper.argv.begin(), wrapper.argv.end() - static_cast<std::ptrdiff_t>(command_words));
  words.front() = sandbox_exec_program();
  for (auto& word : words) {
    if (!word.starts_with(file_word)) continue;
    const auto name = word.substr(file_word.size());
    const auto file = std::ranges::find(wrapper.files, name, &WrapperFile::name);
    if (file == wrapper.files.end())
      return fail(Error{
          .code = ErrorCode::internal, .stage = Stage::prepare, .message = fmt::format("the plan lacks its file {}", base::quoted(name))});
    HARN_TRY(directory, sys::OwnDirectory::make(AbsPath::of("/tmp"), "harn-profile-"));
    const auto path = directory.path().join(name);
    HARN_OK(sys::replace_file(path, file->text));
    files.emplace(std::move(directory));
    word = path.text();
  }
  return words;
}

// Whether sandbox-exec understands the profile at all, asked with a program that can only succeed. Nothing of it is where a command
// could have been: its own copy of the profile, no variables, the root directory.
struct Question {
  std::optional<sys::OwnDirectory> files = {};
  Plan plan = {};

  static Result<Question> about(const Wrapper& wrapper, std::size_t command_words) {
    Question out;
    HARN_TRY(words, words_before(wrapper, command_words, out.files));
    words.emplace_back(harmless_program);
    out.plan = {.route = Route::direct, .argv = std::move(words), .cwd = {}};
    return out;
  }
};

}  // namespace

struct Confining::Parts {
  std::vector<std::string> argv = {};
  std::vector<std::string> before_command = {};  // the words of sandbox-exec alone; empty = nothing confines
  std::optional<sys::OwnDirectory> files = {};   // a profile too long for an argument
  bool startable = true;                         // its program exists, and the profile lets it be executed
};

Confining::Confining(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Confining::Confining(Confining&&) noexcept = default;
Confining::~Confining() = default;

Result<Confining> Confining::prepare(const Plan& plan, const std::string&) {
  auto parts = std::make_unique<Parts>();
  parts->argv = plan.argv;
  if (std::holds_alternative<NoConfinement>(plan.confinement)) return Confining(std::move(parts));
  const auto* wrapper = std::get_if<Wrapper>(&plan.confinement);
  const auto shape_is_ours = wrapper != nullptr && plan.backend == Backend::macos && wrapper->argv.size() > plan.argv.size() &&
                             std::equal(plan.argv.rbegin(), plan.argv.rend(), wrapper->argv.rbegin());
  if (!shape_is_ours)
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::prepare,
                      .message = "the plan is for another system than macOS",
                      .hint = "leave --backend out"});
  // The same answer as without a sandbox, and before anything is started; sandbox-exec would say 71.
  if (const int error = why_not_startable(plan); error != 0) return fail(cannot_start(plan.argv.front(), error));
  parts->startable = startable_inside(plan);
  HARN_TRY(words, words_before(*wrapper, plan.argv.size(), parts->files));
  parts->before_command = std::move(words);
  parts->argv = parts->before_command;
  parts->argv.insert(parts->argv.end(), plan.argv.begin(), plan.argv.end());
  return Confining(std::move(parts));
}

const std::vector<std::string>& Confining::argv() const { return parts_->argv; }

bool Confining::apply(ChildFailure&) const noexcept { return true; }

std::string Confining::describe(const ChildFailure&) const { return "confine the command"; }

// The profile is applied by another program, after anything we could try.
std::vector<Dimension> Confining::proofs() const { return {}; }

// Exit codes 65 and 71 may be the command's own, and by now the command may have changed every file it could reach: its program,
// its directory. So it is told from sandbox-exec by what was known before, and by a question whose answer no command can change; where
// that question fails, the number is the command's own.
Status Confining::settle(const Plan& plan, Outcome& outcome) const {
  if (parts_->before_command.empty()) return {};
  // Programs that the profile keeps closed cannot be executed; that was the boundary, and not the command.
  if (outcome.exit_code == command_not_executed && !parts_->startable) return fail(cannot_start(plan.argv.front(), EACCES));
  if (outcome.exit_code != profile_not_understood) return {};
  HARN_TRY(asking, Question::about(std::get<Wrapper>(plan.confinement), plan.argv.size()));
  const auto answer = run_plan(asking.plan, {.streams = {Stream::empty, Stream::capture, Stream::capture}, .receipt = false});
  if (!answer || answer->exit_code != profile_not_understood) return {};
  return fail(Error{.code = ErrorCode::refused,
                    .stage = Stage::spawn,
                    .message = "sandbox-exec does not accept the profile, so that the command did not run",
                    .hint = "please report this with the output of 'harn plan --native'"});
}

}  // namespace harn::run
