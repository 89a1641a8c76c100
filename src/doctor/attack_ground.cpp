// SPDX-License-Identifier: Apache-2.0
#include "doctor/attack_ground.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/text.h"
#include "policy/path_model.h"
#include "policy/presets.h"
#include "sys/files.h"

namespace harn::doctor {
namespace {

constexpr std::string_view victim_text = "victim\n";
constexpr int backlog = 16;
constexpr std::string_view raw_devices[] = {"/dev/kmsg",    "/dev/mem",   "/dev/vda", "/dev/sda",
                                            "/dev/nvme0n1", "/dev/loop0", "/dev/kvm", "/dev/fuse"};

void write_file(const AbsPath& path, std::string_view text) {
  const sys::UniqueFd fd(::open(path.text().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (fd && ::write(fd.get(), text.data(), text.size()) > 0) ::fchmod(fd.get(), S_IRUSR | S_IWUSR);
}

sys::UniqueFd bound(int family, int type, const void* address, socklen_t length) {
  sys::UniqueFd fd(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || ::bind(fd.get(), static_cast<const sockaddr*>(address), length) != 0) return {};
  if (type == SOCK_STREAM && ::listen(fd.get(), backlog) != 0) return {};
  return fd;
}

std::optional<std::uint16_t> port_of(int fd) {
  sockaddr_in address = {};
  socklen_t length = sizeof address;
  if (fd < 0 || ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  return ntohs(address.sin_port);
}

bool closed(const PathRules& rules, const AbsPath& path) { return !rules.decide(path, FileOp::read).allowed; }

}  // namespace

Result<std::unique_ptr<AttackGround>> AttackGround::make(const SuiteRequest& request, const PathRules& rules) {
  std::unique_ptr<AttackGround> made(new AttackGround);
  auto& ground = *made;
  ground.environment_ = request.environment;
  HARN_OK(ground.make_outside(request, rules));
  ground.make_inside(request, rules);
  ground.open_sockets();
  ground.find_existing(request, rules);
  auto& targets = ground.targets_;
  targets.set("pid", std::to_string(::getpid()));
  targets.set("address", std::to_string(reinterpret_cast<std::uintptr_t>(victim_text.data())));
  targets.set("secret_name", "HARN_DOCTOR_TOKEN");
  targets.set("secret_value", "not for you");
  if (request.policy.env.mode != EnvMode::replace) targets.set("plain_name", "HARN_DOCTOR_PLAIN");
  targets.set("plain_value", "for everybody");
  ground.reset();
  return made;
}

Status AttackGround::make_outside(const SuiteRequest& request, const PathRules& rules) {
  Status last = fail(Error{.code = ErrorCode::not_supported,
                           .stage = Stage::prepare,
                           .message = "the policy opens every place where something to attack could be put",
                           .hint = "measure a policy that keeps your state directory or /tmp closed"});
  for (const auto& place : request.outside) {
    if (!closed(rules, place.join("harn-doctor-x"))) continue;
    auto made = sys::OwnDirectory::make(place, "harn-doctor-");
    if (!made) {
      last = fail(made.error());
      continue;
    }
    outside_.emplace(std::move(*made));
    for (const auto* name : {"secret", "victim", "created"}) targets_.set(name, outside_->path().join(name).text());
    targets_.set("outside", outside_->path().text());
    write_file(outside_->path().join("secret"), "secret\n");
    return {};
  }
  return last;
}

// In the first root that can be written; the project gets it back as it was.
void AttackGround::make_inside(const SuiteRequest& request, const PathRules& rules) {
  targets_.set("own_file", request.attacker->text());
  for (const auto& root : policy::PathModel(request.policy).writable_roots()) {
    if (!rules.decide(root.join(".harn-doctor-x"), FileOp::write).allowed) continue;
    auto made = sys::OwnDirectory::make(root, ".harn-doctor-");
    if (!made) continue;
    inside_.emplace(std::move(*made));
    targets_.set("inside", inside_->path().text());
    for (const auto* name : {"own_file", "own_link", "pipe"}) targets_.set(name, inside_->path().join(name).text());
    return;
  }
}

void AttackGround::open_sockets() {
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  tcp_ = bound(AF_INET, SOCK_STREAM, &any, sizeof any);
  udp_ = bound(AF_INET, SOCK_DGRAM, &any, sizeof any);
  if (const auto port = port_of(tcp_.get())) targets_.set("port", std::to_string(*port));
  if (const auto port = port_of(udp_.get())) targets_.set("udp_port", std::to_string(*port));
  if (tcp_) targets_.set("held", std::to_string(tcp_.get()));

  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const auto name = fmt::format("harn-doctor-{}", ::getpid());
  std::ranges::copy(name, address.sun_path + 1);
  abstract_ = bound(AF_UNIX, SOCK_STREAM, &address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size()));
  if (abstract_) targets_.set("abstract", name);

  address = {};
  address.sun_family = AF_UNIX;
  const auto path = outside_->path().join("socket").text();
  if (path.size() < sizeof address.sun_path) {
    std::ranges::copy(path, address.sun_path);
    named_ = bound(AF_UNIX, SOCK_STREAM, &address, sizeof address);
    if (named_) targets_.set("named", path);
  }
  segment_ = ::shmget(IPC_PRIVATE, 1, S_IRUSR | S_IWUSR);
  if (segment_ >= 0) targets_.set("segment", std::to_string(segment_));
}

// What the host already has: a credential, a protected name, a device.
void AttackGround::find_existing(const SuiteRequest& request, const PathRules& rules) {
  const auto opens = [](const AbsPath& path, int flags) {
    return static_cast<bool>(sys::UniqueFd(::open(path.text().c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)));
  };
  for (const auto& credential : policy::credential_paths(request.facts)) {
    struct stat status = {};
    if (targets_.has("credential") || !closed(rules, credential.path) || !opens(credential.path, O_RDONLY)) continue;
    if (::stat(credential.path.text().c_str(), &status) != 0) continue;
    targets_.set("credential", credential.path.text());
    targets_.set("credential_inode", std::to_string(status.st_ino));
  }
  for (const auto& root : policy::PathModel(request.policy).writable_roots())
    for (const auto& entry : policy::protected_names()) {
      const auto path = root.join(entry.name);
      if (rules.decide(path, FileOp::write).allowed) continue;
      const auto type = sys::type_of(path);
      if (type == sys::FileType::file && !targets_.has("protected") && opens(path, O_WRONLY)) targets_.set("protected", path.text());
      const bool at_top = entry.needs.empty() && entry.name.find('/') == std::string_view::npos;
      if (type == sys::FileType::missing && at_top && !targets_.has("absent")) targets_.set("absent", path.text());
    }
  for (const auto device : raw_devices) {
    const auto path = AbsPath::of(device);
    if (!targets_.has("device") && closed(rules, path) && opens(path, O_RDONLY)) targets_.set("device", path.text());
  }
}

AttackGround::~AttackGround() {
  if (segment_ >= 0) ::shmctl(segment_, IPC_RMID, nullptr);
}

std::map<std::string, std::string> AttackGround::environment() const {
  auto out = environment_;
  out["HARN_DOCTOR_TOKEN"] = targets_.text("secret_value");
  out["HARN_DOCTOR_PLAIN"] = targets_.text("plain_value");
  return out;
}

void AttackGround::reset() {
  ::unlink(at("victim").text().c_str());
  write_file(at("victim"), victim_text);
  ::unlink(at("created").text().c_str());
  while (accepts(tcp_.get()) || accepts(abstract_.get()) || accepts(named_.get()) || datagram_arrived()) {
  }
  if (!inside_) return;
  write_file(at("own_file"), "own\n");
  ::unlink(at("own_link").text().c_str());
  // A new one each time: whoever still held the old one sees its reader gone, and ends.
  pipe_ = {};
  ::unlink(at("pipe").text().c_str());
  if (::mkfifo(at("pipe").text().c_str(), S_IRUSR | S_IWUSR) == 0)
    pipe_ = sys::UniqueFd(::open(at("pipe").text().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

bool AttackGround::is_there(std::string_view target) const { return sys::type_of(at(target)) != sys::FileType::missing; }

bool AttackGround::victim_changed() const {
  const auto text = sys::read_file(at("victim"), 64);
  return !text || *text != victim_text;
}

bool AttackGround::victim_mode_changed() const {
  struct stat status = {};
  return ::stat(at("victim").text().c_str(), &status) != 0 || (status.st_mode & 07777) != (S_IRUSR | S_IWUSR);
}

bool AttackGround::victim_is_old() const {
  struct stat status = {};
  return ::stat(at("victim").text().c_str(), &status) != 0 || status.st_mtim.tv_sec == 1;
}

bool AttackGround::accepts(int listener) {
  return listener >= 0 && static_cast<bool>(sys::UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)));
}

bool AttackGround::datagram_arrived() const {
  char byte = 0;
  return udp_ && ::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) >= 0;
}

// Somebody wrote into the pipe; it hangs up when the last who had it open for writing is gone.
bool AttackGround::somebody_lingers() const {
  pollfd reader = {.fd = pipe_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&reader, 1, 0) == 1 && reader.revents == POLLIN;
}

}  // namespace harn::doctor
