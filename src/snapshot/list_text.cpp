// SPDX-License-Identifier: Apache-2.0
// One line per name: a hundred thousand of them are written and read in no time.
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "snapshot/hash.h"
#include "snapshot/store.h"

namespace harn::snapshot {
namespace {

constexpr std::string_view first_word = "harn.snapshot.v1";

// Names are any bytes but these.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || c == '%') out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else out.push_back(c);
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ec == std::errc{}) {
      out.push_back(static_cast<char>(code));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::unexpected<Error> broken(std::string_view why) {
  return fail(Error{.code = ErrorCode::protocol,
                    .stage = Stage::load,
                    .message = fmt::format("the snapshot is damaged: {}", why),
                    .hint = "restore another one"});
}

template <class T>
bool read(std::string_view text, T& out) {
  const auto end = text.data() + text.size();
  const auto got = std::from_chars(text.data(), end, out);
  return got.ec == std::errc{} && got.ptr == end;
}

Status read_entry(const std::vector<std::string_view>& words, Entry& out) {
  constexpr std::size_t columns = 8;
  if (words.size() != columns || words[0].size() != 1) return broken("a line has the wrong shape");
  const char type = words[0].front();
  if (type != 'd' && type != 'f' && type != 'l') return broken("a line has an unknown type");
  out.type = static_cast<Type>(type);
  if (!read(words[1], out.mode) || !read(words[2], out.size) || !read(words[3], out.changed_ns) || !read(words[4], out.touched_ns) ||
      !read(words[5], out.inode))
    return broken("a number cannot be read");
  out.content = unescaped(words[6]);
  out.path = unescaped(words[7]);
  return {};
}

}  // namespace

std::string print_snapshot(const Snapshot& snapshot) {
  std::string out = fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", first_word, escaped(snapshot.id), escaped(snapshot.session),
                                snapshot.created_ms, snapshot.bytes, snapshot.new_bytes, snapshot.files);
  for (const auto& path : snapshot.skipped) out += fmt::format("skipped\t{}\n", escaped(path));
  for (const auto& tree : snapshot.trees) {
    out += fmt::format("tree\t{}\n", escaped(tree.tree));
    for (const auto& entry : tree.entries)
      fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", static_cast<char>(entry.type), entry.mode, entry.size,
                     entry.changed_ns, entry.touched_ns, entry.inode, escaped(entry.content), escaped(entry.path));
  }
  Hash hash;
  hash.add(out);
  return out + fmt::format("hash\t{}\n", hash.hex());
}

Result<Snapshot> parse_snapshot(std::string_view text) {
  const auto last = text.rfind("hash\t");
  if (last == std::string_view::npos || (last != 0 && text[last - 1] != '\n')) return broken("its end is missing");
  Hash hash;
  hash.add(text.substr(0, last));
  if (text.substr(last) != fmt::format("hash\t{}\n", hash.hex())) return broken("it is not what was written");
  Snapshot out;
  bool first = true;
  for (const auto line : base::split(text.substr(0, last), '\n')) {
    if (line.empty()) continue;
    const auto words = base::split(line, '\t');
    if (first) {
      if (words.size() != 7 || words[0] != first_word || !read(words[3], out.created_ms) || !read(words[4], out.bytes) ||
          !read(words[5], out.new_bytes) || !read(words[6], out.files))
        return broken("its first line is wrong");
      out.id = unescaped(words[1]);
      out.session = unescaped(words[2]);
      first = false;
    } else if (words[0] == "skipped" && words.size() == 2) {
      out.skipped.push_back(unescaped(words[1]));
    } else if (words[0] == "tree" && words.size() == 2) {
      out.trees.push_back({.tree = unescaped(words[1])});
    } else {
      if (out.trees.empty()) return broken("a line stands in no tree");
      HARN_OK(read_entry(words, out.trees.back().entries.emplace_back()));
    }
  }
  if (first) return broken("it is empty");
  return out;
}

}  // namespace harn::snapshot
