// SPDX-License-Identifier: Apache-2.0
#include "ask/desk.h"

#include <algorithm>

namespace harn::ask {

Desk::Key Desk::key_of(const Question& question) {
  const auto& access = question.access;
  const bool path = access != "connect" && access != "host";
  return {.target = question.target, .kind = !path ? access : access == "read" || access == "find" ? "read" : "change"};
}

// Who may change a file may read it.
std::optional<bool> Desk::known(const Key& key, bool looks_only, Time now) {
  for (const auto& kind : {key.kind, std::string(key.kind == "read" ? "change" : "")}) {
    const auto found = remembered_.find({key.target, kind});
    if (found == remembered_.end() || (kind != key.kind && !found->second.allowed)) continue;
    if (found->second.until && now >= *found->second.until) {
      remembered_.erase(found);
      continue;
    }
    const bool allowed = found->second.allowed;
    if (found->second.once && !looks_only) remembered_.erase(found);
    return allowed;
  }
  return std::nullopt;
}

void Desk::ask(Question question, std::uint64_t waiter, Settle settle, Time now) {
  const auto key = key_of(question);
  const bool looks_only = question.access == "find";
  if (const auto answer = known(key, looks_only, now)) return settle(*answer);
  const auto same = std::ranges::find(open_, key, &Open::key);
  if (same != open_.end()) {
    same->waiters.push_back({waiter, looks_only, std::move(settle)});
    return;
  }
  if (looks_only) question.access = "read";
  question.patience = limits_.patience;
  if (!closed_.empty() || asked_ >= limits_.total || open_.size() >= limits_.open) {
    // Said once; afterwards it would fill the record.
    const auto why = !closed_.empty()          ? closed_
                     : asked_ >= limits_.total ? "too many questions in this run"
                                               : "too many questions at one time";
    if (hooks_.ended && asked_ <= limits_.total) hooks_.ended({.question = question, .word = Word::deny, .why = why});
    if (asked_ == limits_.total) ++asked_;
    return settle(false);
  }
  question.id = ++asked_;
  open_.push_back({.question = question, .key = key, .until = now + limits_.patience});
  open_.back().waiters.push_back({waiter, looks_only, std::move(settle)});
  if (hooks_.show) hooks_.show(question);
}

void Desk::gone(std::uint64_t waiter) {
  for (std::size_t i = 0; i < open_.size();) {
    auto& open = open_[i];
    std::erase_if(open.waiters, [&](const Waiter& one) { return one.id == waiter; });
    if (!open.waiters.empty()) {
      ++i;
      continue;
    }
    const auto question = open.question;
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    if (hooks_.withdraw) hooks_.withdraw(question, "whoever asked is gone");
    if (hooks_.ended) hooks_.ended({.question = question, .word = Word::deny, .why = "whoever asked is gone"});
  }
}

void Desk::finish(std::size_t index, Word word, std::string_view why, std::optional<milliseconds> lasts, Time now) {
  auto open = std::move(open_[index]);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  const bool allowed = word != Word::deny;
  const bool only_looks = std::ranges::all_of(open.waiters, &Waiter::looks_only);
  if (word != Word::once || only_looks)
    remembered_[open.key] = {.allowed = allowed, .once = word == Word::once, .until = lasts ? std::optional(now + *lasts) : std::nullopt};
  if (!why.empty() && hooks_.withdraw) hooks_.withdraw(open.question, why);
  if (hooks_.ended) hooks_.ended({.question = open.question, .word = word, .why = std::string(why), .lasts = lasts});
  // Once is one of those who wait; the others would have asked for themselves.
  bool spent = false;
  for (auto& waiter : open.waiters) {
    const bool yes = allowed && (word != Word::once || waiter.looks_only || !spent);
    if (!waiter.looks_only) spent = true;
    waiter.settle(yes);
  }
}

void Desk::answer(std::uint64_t id, const Said& said, Time now) {
  const auto found = std::ranges::find(open_, id, [](const Open& open) { return open.question.id; });
  if (found == open_.end()) return;
  auto said_here = said;
  if (said.word == Word::policy && !found->question.lasting) said_here.word = Word::run;
  finish(static_cast<std::size_t>(found - open_.begin()), said_here.word, {}, said_here.lasts, now);
}

void Desk::expire(Time now) {
  for (std::size_t i = 0; i < open_.size();)
    if (now >= open_[i].until) finish(i, Word::deny, "timed out", std::nullopt, now);
    else ++i;
}

std::optional<Time> Desk::next_expiry() const {
  std::optional<Time> next;
  for (const auto& open : open_)
    if (!next || open.until < *next) next = open.until;
  return next;
}

void Desk::abandon(std::string_view why) {
  for (auto& open : open_) open.waiters.clear();
  close(why);
}

void Desk::refuse_open(std::string_view why) {
  while (!open_.empty()) finish(0, Word::deny, why, std::nullopt, {});
}

void Desk::close(std::string_view why) {
  closed_ = why;
  refuse_open(why);
}

}  // namespace harn::ask
