// SPDX-License-Identifier: Apache-2.0
// unveil for every path, the lock, then pledge: in this order, and any failure is the end. The list and its lock
// outlive exec only because execpromises are set.
#include "run/unix/confine.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"

namespace harn::run {
namespace {

constexpr std::int32_t lock_step = 1'000'000;
constexpr std::int32_t read_canary = lock_step + 1;
constexpr std::int32_t write_canary = lock_step + 2;
constexpr std::int32_t pledge_step = lock_step + 3;

std::string words(const std::vector<std::string>& list) { return base::join(list, " "); }

// Opened for a moment only to see that it cannot be.
bool opens(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace

struct Confining::Parts {
  std::vector<std::string> argv = {};
  bool confines = false;
  std::vector<Unveil> unveils = {};
  std::string promises = {};
  std::string exec_promises = {};
  std::string canary = {};
};

Confining::Confining(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Confining::Confining(Confining&&) noexcept = default;
Confining::~Confining() = default;

Result<Confining> Confining::prepare(const Plan& plan, const std::string& canary) {
  auto parts = std::make_unique<Parts>();
  parts->argv = plan.argv;
  if (std::holds_alternative<NoConfinement>(plan.confinement)) return Confining(std::move(parts));
  const auto* confinement = std::get_if<PledgeUnveil>(&plan.confinement);
  if (confinement == nullptr)
    return fail(Error{.code = ErrorCode::not_supported,
                      .stage = Stage::prepare,
                      .message = "the plan is for another system than OpenBSD",
                      .hint = "leave --backend out"});
  // Without them exec would lift everything again.
  if (confinement->exec_promises.empty())
    return fail(Error{.code = ErrorCode::refused,
                      .stage = Stage::prepare,
                      .message = "the plan has no execpromises, so that nothing would confine the command",
                      .hint = "make the plan again with this version of harn"});
  parts->confines = true;
  parts->unveils = confinement->unveils;
  parts->promises = words(confinement->promises);
  parts->exec_promises = words(confinement->exec_promises);
  parts->canary = canary;
  return Confining(std::move(parts));
}

const std::vector<std::string>& Confining::argv() const { return parts_->argv; }

bool Confining::apply(ChildFailure& failed) const noexcept {
  if (!parts_->confines) return true;
  const auto gave_up = [&](std::int32_t step, int error) {
    failed = {step, error};
    return false;
  };
  std::int32_t step = 0;
  for (const auto& entry : parts_->unveils) {
    ++step;
    if (::unveil(entry.path.text().c_str(), entry.permissions.c_str()) != 0) return gave_up(step, errno);
  }
  if (::unveil(nullptr, nullptr) != 0) return gave_up(lock_step, errno);
  // Before pledge, which would end us for trying to write.
  if (!parts_->canary.empty()) {
    if (opens(parts_->canary.c_str(), O_RDONLY)) return gave_up(read_canary, 0);
    if (opens(parts_->canary.c_str(), O_WRONLY)) return gave_up(write_canary, 0);
  }
  if (::pledge(parts_->promises.c_str(), parts_->exec_promises.c_str()) != 0) return gave_up(pledge_step, errno);
  return true;
}

std::string Confining::describe(const ChildFailure& failed) const {
  switch (failed.step) {
    case lock_step: return "lock the list of unveiled paths";
    case read_canary: return fmt::format("read {}", base::quoted(parts_->canary));
    case write_canary: return fmt::format("write {}", base::quoted(parts_->canary));
    case pledge_step: return fmt::format("pledge {} for the command", base::quoted(parts_->exec_promises));
    default: break;
  }
  const auto& entry = parts_->unveils.at(static_cast<std::size_t>(failed.step - 1));
  return fmt::format("unveil {} with {}", base::quoted(entry.path.text()), base::quoted(entry.permissions));
}

std::vector<Dimension> Confining::proofs() const {
  if (!parts_->confines || parts_->canary.empty()) return {};
  return {Dimension::reads, Dimension::writes};
}

Status Confining::settle(const Plan&, Outcome&) const { return {}; }

}  // namespace harn::run
