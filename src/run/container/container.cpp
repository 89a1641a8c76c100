// SPDX-License-Identifier: Apache-2.0
#include "run/container/container.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/names.h"
#include "plan/wrappers/container_words.h"
#include "run/container/owner.h"
#include "run/entry_bytes.h"
#include "sys/files.h"

namespace harn::run {
namespace {

using plan::entry_words;

constexpr pid_t first_pid_outside = 64;  // a container has lower ones of its own
constexpr std::size_t cpu_word = 2;      // of them
constexpr std::size_t id_length = 64;
constexpr mode_t readable_directory = S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
constexpr mode_t executable_file = S_IRUSR | S_IXUSR | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;

const Wrapper& wrapper_of(const Plan& plan) { return std::get<Wrapper>(plan.confinement); }

void replace(std::string& word, std::string_view mark, std::string_view text) {
  if (const auto at = word.find(mark); at != std::string::npos) word.replace(at, mark.size(), text);
}

// podman takes more than this from itself before it starts anything.
constexpr rlim_t most_processes = 32768;
constexpr rlim_t most_files = 1048576;

std::string own_limit(__rlimit_resource_t resource, rlim_t most) {
  rlimit now = {};
  ::getrlimit(resource, &now);
  return fmt::format("{}:{}", std::min(now.rlim_cur, most), std::min(now.rlim_max, most));
}

Status write_new(const AbsPath& path, const void* bytes, std::size_t count, mode_t mode) {
  const sys::UniqueFd fd(::open(path.text().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (fd && ::write(fd.get(), bytes, count) == static_cast<ssize_t>(count) && ::fchmod(fd.get(), mode) == 0) return {};
  return fail(sys::os_failure("write", path.text(), errno, Stage::prepare));
}

// The file names itself on an engine's command line, in a record of fields with commas between them.
Status check_place(const AbsPath& place) {
  const auto& text = place.text();
  const bool plain = std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == ',' || c == '"' || c == 0x7F; });
  if (plain && base::valid_utf8(text)) return {};
  return fail(Error{.code = ErrorCode::not_supported,
                    .stage = Stage::prepare,
                    .message = fmt::format("the directory {} cannot be named to a container engine", base::quoted(text)),
                    .hint = "set XDG_STATE_HOME to a path without commas and quotes"});
}

// Only where the filter refuses the socket itself: one that leads nowhere would look like an open door.
std::string network_trial(const Plan& plan) {
  const auto& filter = wrapper_of(plan).syscalls;
  if (!filter || plan.coverage[Dimension::network].status != Enforcement::enforced) return "-";
  const auto for_internet = [](const ArgumentTest& test) {
    return test.index != 0 || test.compare != Compare::equal || (AF_INET & test.mask) == test.value;
  };
  const bool allowed = std::ranges::any_of(filter->rules, [&](const SyscallRule& rule) {
    return rule.action == SyscallAction::allow && std::ranges::find(rule.names, "socket") != rule.names.end() &&
           std::ranges::all_of(rule.when, for_internet);
  });
  return allowed ? "-" : "closed";
}

// The first place the command may write and the caller can: the engine may give the command another user.
std::string writable_trial(const Plan& plan) {
  const auto& words = wrapper_of(plan).argv;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    constexpr std::string_view start = "type=bind,source=";
    if (words[i] != "--mount" || !words[i + 1].starts_with(start) || words[i + 1].find("readonly") != std::string::npos) continue;
    const auto text = words[i + 1].substr(start.size(), words[i + 1].find(',', start.size()) - start.size());
    if (const auto path = AbsPath::parse(text); path && sys::is_writable_directory(*path)) return path->text();
  }
  return "-";
}

const char* first_word(Life life) {
  switch (life) {
    case Life::kept: return "hold";
    case Life::session: return "keep";
    case Life::limits: return "limits";
    case Life::one_command: break;
  }
  return "run";
}

// Where the words of harn's program begin: after them come only the command's own.
std::size_t first_entry_word(const Plan& plan) { return wrapper_of(plan).argv.size() - plan.argv.size() - entry_words; }

// The rest of a field that began with a quote: it ends at its quote, and inner ones are doubled.
std::string quoted_field(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool quote = text[i] == '"';
    if (quote && (i + 1 >= text.size() || text[i + 1] != '"')) break;
    if (quote) ++i;
    out += text[i];
  }
  return out;
}

// What the plan mounts, by its place inside.
std::set<std::string> planned_mounts(const Plan& plan) {
  std::set<std::string> out;
  const auto& words = wrapper_of(plan).argv;
  for (std::size_t i = 0; i + 1 < first_entry_word(plan); ++i) {
    const auto& value = words[i + 1];
    if (words[i] == "--tmpfs") out.insert(value.substr(0, value.find(':')));
    if (words[i] != "--mount") continue;
    const auto at = value.find("target=");
    if (at == std::string::npos) continue;
    const auto text = std::string_view(value).substr(at + std::string_view("target=").size());
    out.insert(at > 0 && value[at - 1] == '"' ? quoted_field(text) : std::string(text.substr(0, text.find(','))));
  }
  return out;
}

// What an engine is told about a container, without what is told again with each command.
std::vector<std::string> lasting_words(const Plan& plan) {
  std::vector<std::string> out;
  const auto& words = wrapper_of(plan).argv;
  for (std::size_t i = 0; i < first_entry_word(plan); ++i) {
    if (words[i] == "--env" || words[i] == "--workdir") ++i;
    else out.push_back(words[i]);
  }
  return out;
}

}  // namespace

bool same_container(const Plan& one, const Plan& other) {
  if (!std::holds_alternative<Wrapper>(one.confinement) || !std::holds_alternative<Wrapper>(other.confinement)) return false;
  return one.backend == other.backend && lasting_words(one) == lasting_words(other) && wrapper_of(one).files == wrapper_of(other).files &&
         wrapper_of(one).environment == wrapper_of(other).environment;
}

EngineClient client_of(const Plan& plan, const AbsPath& directory, bool dies_with_thread) {
  EngineClient client{.name = std::string(base::enum_name(plan.backend)),
                      .environment = wrapper_of(plan).environment,
                      .dies_with_thread = dies_with_thread};
  for (auto word : wrapper_of(plan).argv) {
    if (word == "create") break;
    replace(word, "@dir:config", directory.join("config").text());
    client.words.push_back(std::move(word));
  }
  return client;
}

Result<Container> Container::create(const ContainerRequest& request) {
  HARN_OK(check_place(request.place));
  HARN_OK(sys::make_directories(request.place));
  std::optional<sys::OwnDirectory> files;
  if (request.life != Life::session) {
    HARN_TRY(own, sys::OwnDirectory::make(request.place, "harn-container-"));
    files.emplace(std::move(own));
  }
  const auto directory = files ? files->path() : request.place;
  Container made(directory, client_of(request.plan, directory, request.dies_with_thread));
  if (files) made.files_.emplace(std::move(*files));
  made.session_ = request.life == Life::session;
  HARN_OK(made.write_files(request.plan));
  HARN_OK(made.make(request));
  return made;
}

Container Container::adopt(Adopted adopted) {
  Container out(adopted.directory, client_of(adopted.plan, adopted.directory, adopted.dies_with_thread));
  out.session_ = out.stays_ = true;
  out.inside_ = adopted.directory.join("inside");
  out.id_ = std::move(adopted.id);
  out.image_id_ = std::move(adopted.image_id);
  out.image_ = wrapper_of(adopted.plan).argv[first_entry_word(adopted.plan) - 1];
  out.tried_ = std::move(adopted.tried);
  return out;
}

Status Container::write_files(const Plan& plan) {
  const auto& directory = directory_;
  inside_ = directory.join("inside");
  for (const auto& place : {inside_, directory.join("config")})
    if (::mkdir(place.text().c_str(), readable_directory) != 0 || ::chmod(place.text().c_str(), readable_directory) != 0)
      return fail(sys::os_failure("mkdir", place.text(), errno, Stage::prepare));
  HARN_OK(write_new(inside_.join("entry"), entry_bytes, sizeof entry_bytes, executable_file));
  for (const auto& file : wrapper_of(plan).files)
    HARN_OK(write_new(directory.join(file.name), file.text.data(), file.text.size(), S_IRUSR | S_IWUSR));
  HARN_TRY(pipe, ReportPipe::make(inside_.join("report")));
  report_ = std::move(pipe);
  return {};
}

std::string Container::fill(std::string word, const ContainerRequest& request) {
  const auto& directory = directory_;
  replace(word, "@dir:config", directory.join("config").text());
  replace(word, "@dir:inside", inside_.text());
  replace(word, "@file:seccomp.json", directory.join("seccomp.json").text());
  replace(word, "@run:nofile", own_limit(RLIMIT_NOFILE, most_files));
  replace(word, "@run:nproc", own_limit(RLIMIT_NPROC, most_processes));
  replace(word, "@run:name", name_);
  replace(word, "@run:id", request.run_id);
  replace(word, "@run:owner", session_ ? std::string(session_owner) : owner_label());
  if (word == "@run:canary") {
    const bool reachable = request.canary && ::access(request.canary->text().c_str(), R_OK | W_OK) == 0;
    if (reachable) tried_.insert(tried_.end(), {Dimension::reads, Dimension::writes});
    word = reachable ? request.canary->text() : "-";
  } else if (word == "@run:pid") {
    const bool outside = ::getpid() >= first_pid_outside;
    if (outside) tried_.push_back(Dimension::signals);
    word = outside ? std::to_string(::getpid()) : "-";
  } else if (word == "@run:network") {
    word = network_trial(request.plan);
    if (word != "-") tried_.push_back(Dimension::network);
  } else if (word == "@run:writable") {
    word = writable_trial(request.plan);
  }
  return word;
}

Status Container::make(const ContainerRequest& request) {
  const auto& planned = wrapper_of(request.plan).argv;
  const auto own = first_entry_word(request.plan);
  image_ = planned[own - 1];
  name_ = "harn-" + request.run_id;
  std::vector<std::string> words;
  const auto verb = static_cast<std::size_t>(std::ranges::find(planned, "create") - planned.begin());
  for (std::size_t i = verb; i < own; ++i) {
    words.push_back(fill(planned[i], request));
    if (i == verb && request.terminal) words.emplace_back("--tty");
  }
  words.emplace_back(first_word(request.life));
  const auto last = request.life == Life::one_command ? planned.size() : request.life == Life::limits ? own + 2 : own + entry_words;
  for (std::size_t i = own + 1; i < last; ++i) words.push_back(i < own + entry_words ? fill(planned[i], request) : planned[i]);
  // Processor time is every command's own there; the place of its limit says how long the container lives.
  if (session_) words[words.size() - entry_words + cpu_word] = request.lifetime_ms == 0 ? "-" : std::to_string(request.lifetime_ms);
  HARN_TRY(answer, ask(client_, std::move(words), request.plan.env.variables));
  if (!answer.ok()) {
    // One that gave up late may have left something behind.
    if (answer.timed_out) order(client_, {"rm", "--force", "--volumes", name_});
    return fail(explain(client_, image_, "make the container", answer));
  }
  id_ = std::string(base::trim(answer.out));
  // podman has nothing but the id on its standard output, docker neither; whatever else it is, it is no id.
  if (id_.size() != id_length || id_.find_first_not_of("0123456789abcdef") != std::string::npos) {
    id_ = name_;
    return fail(Error{.code = ErrorCode::protocol,
                      .stage = Stage::prepare,
                      .message = fmt::format("{} did not name the container it made", client_.name),
                      .hint = fmt::format("see '{} version'", client_.name)});
  }
  return check_made(request.plan);
}

// An image can declare volumes, and an engine's settings can add mounts: both open what no policy names.
Status Container::check_made(const Plan& plan) {
  HARN_TRY(answer, ask(client_, {"inspect", "--type", "container", "--format",
                                 "{{println .Image}}{{range .Mounts}}{{println .Destination}}{{end}}", id_}));
  if (!answer.ok()) return fail(explain(client_, image_, "look at the container", answer));
  const auto planned = planned_mounts(plan);
  bool first = true;
  for (const auto line : base::split(answer.out, '\n')) {
    if (std::exchange(first, false)) image_id_ = std::string(base::trim(line));
    else if (!line.empty() && !planned.contains(std::string(line)))
      return fail(
          Error{.code = ErrorCode::refused,
                .stage = Stage::prepare,
                .message = fmt::format("the image {} or the settings of {} add a writable place at {}, which the policy does not name",
                                       base::quoted(image_), client_.name, base::quoted(line)),
                .hint = "use an image without VOLUME, or the podman backend, which leaves volumes out"});
  }
  return {};
}

std::vector<std::string> Container::start_words() const {
  // Without keys to detach by: a command's input is its own.
  if (client_.name == "podman") return client_.with({"start", "--attach", "--interactive", "--detach-keys", "", id_});
  return client_.with({"start", "--attach", "--interactive", id_});
}

std::vector<std::string> Container::exec_words(const Plan& plan, const std::string& report, bool terminal) const {
  std::vector<std::string> words = {"exec", "--interactive", "--workdir", plan.cwd.text()};
  if (terminal) words.emplace_back("--tty");
  if (client_.name == "podman") words.insert(words.end(), {"--detach-keys", ""});
  const auto& planned = wrapper_of(plan).argv;
  for (std::size_t i = 0; i + 1 < first_entry_word(plan); ++i)
    if (planned[i] == "--env") words.insert(words.end(), {planned[i], planned[i + 1]});
  words.insert(words.end(), {id_, fmt::format("{}/entry", entry::directory), session_ ? "join" : "exec",
                             fmt::format("{}/{}", entry::directory, report), planned[first_entry_word(plan) + cpu_word]});
  words.insert(words.end(), plan.argv.begin(), plan.argv.end());
  return client_.with(std::move(words));
}

Result<ContainerState> Container::state() const {
  HARN_TRY(answer, ask(client_, {"inspect", "--type", "container", "--format", "{{.State.Status}} {{.State.OOMKilled}}", id_}));
  if (!answer.ok()) return fail(explain(client_, image_, "look at the container", answer));
  const auto words = base::split(base::trim(answer.out), ' ');
  return ContainerState{.status = std::string(words.front()), .oom_killed = words.size() > 1 && words[1] == "true"};
}

void Container::end() {
  if (report_) report_->close();
  if (session_) return;  // the program beside the command ends it; others go on
  order(client_, {"kill", "--signal", "KILL", id_});
}

std::string Container::remove() {
  if (id_.empty()) return {};
  auto answer = ask(client_, {"rm", "--force", "--volumes", id_});
  if (answer && !answer->ok()) answer = ask(client_, {"rm", "--force", "--volumes", id_});
  const bool gone = answer && (answer->ok() || base::lower_ascii(answer->err).find("no such container") != std::string::npos);
  const auto id = std::exchange(id_, std::string());
  if (gone) return {};
  return fmt::format("the container {} could not be removed: {}", id, answer ? complaint(*answer) : answer.error().message);
}

Container::~Container() {
  if (report_) report_->close();
  if (!stays_) remove();
}

}  // namespace harn::run
