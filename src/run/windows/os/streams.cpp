// SPDX-License-Identifier: Apache-2.0
#include "run/windows/os/streams.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace harn::run::windows {

struct Streams::Shared {
  explicit Shared(StreamRules told) : rules(std::move(told)) {}

  std::string_view account(std::size_t index, std::string_view bytes);
  void pass_on(std::size_t index, std::string_view bytes);
  void read_output(std::size_t index);
  void feed_input();

  StreamRules rules;
  std::array<UniqueHandle, 3> ours = {};
  std::mutex mutex = {};
  std::mutex telling = {};
  std::condition_variable changed = {};
  std::array<std::string, 3> captured = {};
  std::uint64_t passed = 0;
  int reading = 0;  // outputs that are still open
  bool truncated = false;
  bool abandoned = false;  // nobody waits for what still comes
};

namespace {

constexpr DWORD piece = 64 * 1024;
constexpr DWORD standard[3] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};

bool write_all(HANDLE to, std::string_view bytes) {
  while (!bytes.empty()) {
    DWORD written = 0;
    const auto size = static_cast<DWORD>(std::min<std::size_t>(bytes.size(), piece));
    if (::WriteFile(to, bytes.data(), size, &written, nullptr) == 0) return false;
    bytes.remove_prefix(written);
  }
  return true;
}

struct PipeEnds {
  UniqueHandle child = {};
  UniqueHandle ours = {};
};

// Only the child's end can be inherited, and only by a child that lists it.
Result<PipeEnds> make_pipe(bool child_reads) {
  HANDLE read = nullptr;
  HANDLE write = nullptr;
  if (::CreatePipe(&read, &write, nullptr, 0) == 0) return call_failed("CreatePipe");
  PipeEnds ends{.child = UniqueHandle(child_reads ? read : write), .ours = UniqueHandle(child_reads ? write : read)};
  if (::SetHandleInformation(ends.child.get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) == 0) return call_failed("SetHandleInformation");
  return ends;
}

}  // namespace

// How much of the bytes goes on; what is kept is kept here. Whoever writes or is told does so without the lock: a reader who
// takes his time must not stop the other stream, nor the end.
std::string_view Streams::Shared::account(std::size_t index, std::string_view bytes) {
  const std::lock_guard lock(mutex);
  if (abandoned) return {};
  const bool keeps = rules.streams[index] == Stream::capture;
  const auto most = rules.limit ? *rules.limit - std::min(*rules.limit, passed)
                    : keeps     ? rules.captured_bytes - std::min<std::uint64_t>(rules.captured_bytes, captured[index].size())
                                : bytes.size();
  const auto told = bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(most, bytes.size())));
  truncated = truncated || told.size() < bytes.size();
  passed += told.size();
  if (keeps) captured[index] += told;
  return told;
}

void Streams::Shared::pass_on(std::size_t index, std::string_view bytes) {
  const auto told = account(index, bytes);
  const auto stream = rules.streams[index];
  if (told.empty()) return;
  if (stream == Stream::inherit || stream == Stream::tap) write_all(::GetStdHandle(standard[index]), told);
  if (!rules.on_output || (stream != Stream::capture && stream != Stream::tap)) return;
  const std::lock_guard one_at_a_time(telling);
  rules.on_output(index == 1 ? Output::out : Output::err, told);
}

void Streams::Shared::read_output(std::size_t index) {
  std::string buffer(piece, '\0');
  DWORD got = 0;
  while (::ReadFile(ours[index].get(), buffer.data(), piece, &got, nullptr) != 0)
    if (got != 0) pass_on(index, {buffer.data(), got});
  const std::lock_guard lock(mutex);
  --reading;
  changed.notify_all();
}

void Streams::Shared::feed_input() {
  if (rules.streams[0] == Stream::capture) write_all(ours[0].get(), rules.input);
  if (rules.streams[0] == Stream::inherit || rules.streams[0] == Stream::tap) {
    std::string buffer(piece, '\0');
    DWORD got = 0;
    while (::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), buffer.data(), piece, &got, nullptr) != 0 && got != 0)
      if (!write_all(ours[0].get(), {buffer.data(), got})) break;
  }
  ours[0].reset();
}

Result<Streams> Streams::open(StreamRules rules) {
  Streams out;
  out.shared_ = std::make_shared<Shared>(std::move(rules));
  for (std::size_t i = 0; i < 3; ++i) {
    HARN_TRY(ends, make_pipe(i == 0));
    out.child_[i] = std::move(ends.child);
    out.shared_->ours[i] = std::move(ends.ours);
  }
  return out;
}

Streams::~Streams() {
  if (!shared_) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->abandoned = true;
}

std::array<Handle, 3> Streams::child_ends() const { return {neutral(child_[0].get()), neutral(child_[1].get()), neutral(child_[2].get())}; }

void Streams::serve() {
  for (auto& end : child_) end.reset();
  shared_->reading = 2;
  for (const std::size_t index : {std::size_t{1}, std::size_t{2}})
    std::thread([shared = shared_, index] { shared->read_output(index); }).detach();
  // It may wait for ever on the caller's input; the program ends with it waiting.
  std::thread([shared = shared_] { shared->feed_input(); }).detach();
}

void Streams::finish(std::chrono::milliseconds most, Outcome& outcome) {
  std::unique_lock lock(shared_->mutex);
  const bool all = shared_->changed.wait_for(lock, most, [&] { return shared_->reading == 0; });
  shared_->abandoned = true;
  outcome.output_truncated = shared_->truncated || !all;
  if (shared_->rules.streams[1] == Stream::capture) outcome.captured_stdout = std::move(shared_->captured[1]);
  if (shared_->rules.streams[2] == Stream::capture) outcome.captured_stderr = std::move(shared_->captured[2]);
}

}  // namespace harn::run::windows
