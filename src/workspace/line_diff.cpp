// SPDX-License-Identifier: Apache-2.0
#include "workspace/line_diff.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace harn::workspace {
namespace {

constexpr std::size_t context = 3;
constexpr long most_edits = 2000;  // beyond that everything counts as replaced

struct Edit {
  char sign = ' ';
  std::size_t before = 0;  // line numbers, from 0
  std::size_t after = 0;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

using Lines = std::vector<std::string_view>;

// The greedy algorithm of Myers: the fewest edits, found furthest point by furthest point.
class Editor {
 public:
  Editor(const Lines& a, const Lines& b) : a_(a), b_(b) {}

  std::vector<Edit> edits() {
    while (prefix_ < a_.size() && prefix_ < b_.size() && a_[prefix_] == b_[prefix_]) ++prefix_;
    n_ = static_cast<long>(a_.size() - prefix_);
    m_ = static_cast<long>(b_.size() - prefix_);
    while (n_ > 0 && m_ > 0 && a_at(n_ - 1) == b_at(m_ - 1)) --n_, --m_, ++suffix_;
    const long found = search();
    auto middle = found < 0 ? everything() : trace(found);
    std::vector<Edit> out;
    for (std::size_t i = 0; i < prefix_; ++i) out.push_back({' ', i, i});
    out.insert(out.end(), middle.begin(), middle.end());
    for (std::size_t i = 0; i < suffix_; ++i) out.push_back({' ', a_.size() - suffix_ + i, b_.size() - suffix_ + i});
    return out;
  }

 private:
  std::string_view a_at(long i) const { return a_[prefix_ + static_cast<std::size_t>(i)]; }
  std::string_view b_at(long i) const { return b_[prefix_ + static_cast<std::size_t>(i)]; }

  // How many edits it takes, or -1; rows_ holds the furthest points of each number.
  long search() {
    const long limit = std::min(n_ + m_, most_edits);
    std::vector<long> row(static_cast<std::size_t>(2 * limit + 3), 0);
    const auto at = [&](long k) -> long& { return row[static_cast<std::size_t>(k + limit + 1)]; };
    for (long d = 0; d <= limit; ++d) {
      for (long k = -d; k <= d; k += 2) {
        long x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        while (x < n_ && x - k < m_ && a_at(x) == b_at(x - k)) ++x;
        at(k) = x;
        if (x < n_ || x - k < m_) continue;
        keep(row, limit, d);
        return d;
      }
      keep(row, limit, d);
    }
    return -1;
  }

  void keep(const std::vector<long>& row, long limit, long d) {
    const auto from = row.begin() + (limit + 1 - d);
    rows_.emplace_back(from, from + 2 * d + 1);
  }

  long reached(long d, long k) const { return k < -d || k > d ? -1 : rows_[static_cast<std::size_t>(d)][static_cast<std::size_t>(k + d)]; }

  Edit edit(char sign, long x, long y) const {
    return {sign, prefix_ + static_cast<std::size_t>(x), prefix_ + static_cast<std::size_t>(y)};
  }

  std::vector<Edit> trace(long d) const {
    std::vector<Edit> out;
    long x = n_;
    long y = m_;
    for (; d > 0; --d) {
      const long k = x - y;
      const bool down = k == -d || (k != d && reached(d - 1, k - 1) < reached(d - 1, k + 1));
      const long before_k = down ? k + 1 : k - 1;
      const long before_x = reached(d - 1, before_k);
      const long before_y = before_x - before_k;
      while (x > before_x + (down ? 0 : 1) && y > before_y + (down ? 1 : 0)) --x, --y, out.push_back(edit(' ', x, y));
      if (down) out.push_back(edit('+', x, --y));
      else out.push_back(edit('-', --x, y));
    }
    while (x > 0 && y > 0) --x, --y, out.push_back(edit(' ', x, y));
    std::ranges::reverse(out);
    return out;
  }

  std::vector<Edit> everything() const {
    std::vector<Edit> out;
    for (long i = 0; i < n_; ++i) out.push_back(edit('-', i, 0));
    for (long i = 0; i < m_; ++i) out.push_back(edit('+', n_, i));
    return out;
  }

  const Lines& a_;
  const Lines& b_;
  std::size_t prefix_ = 0;
  std::size_t suffix_ = 0;
  long n_ = 0;
  long m_ = 0;
  std::vector<std::vector<long>> rows_ = {};
};

std::string range(std::size_t first, std::size_t count) {
  if (count == 1) return fmt::format("{}", first + 1);
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

}  // namespace

bool is_text(std::string_view content) { return content.find('\0') == std::string_view::npos; }

std::string unified_diff(std::string_view before, std::string_view after) {
  const auto a = lines_of(before);
  const auto b = lines_of(after);
  const auto edits = Editor(a, b).edits();
  std::string out;
  for (std::size_t i = 0; i < edits.size();) {
    if (edits[i].sign == ' ') {
      ++i;
      continue;
    }
    const std::size_t from = i - std::min(i, context);
    std::size_t last = i;  // the last edit of this hunk
    for (std::size_t j = i; j < edits.size() && j - last <= 2 * context; ++j)
      if (edits[j].sign != ' ') last = j;
    const std::size_t to = std::min(last + 1 + context, edits.size());
    std::size_t removed = 0;
    std::size_t added = 0;
    std::string body;
    for (std::size_t j = from; j < to; ++j) {
      const auto& edit = edits[j];
      removed += edit.sign != '+' ? 1u : 0u;
      added += edit.sign != '-' ? 1u : 0u;
      const auto line = edit.sign == '+' ? b[edit.after] : a[edit.before];
      body += edit.sign;
      body += line;
      if (!line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    out += fmt::format("@@ -{} +{} @@\n", range(edits[from].before, removed), range(edits[from].after, added)) + body;
    i = to;
  }
  return out;
}

}  // namespace harn::workspace
