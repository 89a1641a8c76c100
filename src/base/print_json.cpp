// SPDX-License-Identifier: Apache-2.0
// Printing JSON ourselves: one escape rule, one number rule, and a canonical form whose bytes never
// depend on a library's version, because digests are made from it.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace harn::base {
namespace {

struct CodePoint {
  std::uint32_t code = 0;
  std::size_t length = 1;
};

// A byte that is not UTF-8 becomes a lone low surrogate: different bytes stay different in a digest,
// and a strict reader refuses the text instead of silently reading something else.
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const auto lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length > text.size() || !valid_utf8(text.substr(0, length))) return {.code = 0xDC00 + lead, .length = 1};
  std::uint32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3F);
  return {.code = code, .length = length};
}

void append_escape(std::string& out, std::uint32_t code) {
  if (code > 0xFFFF) {
    append_escape(out, 0xD800 + ((code - 0x10000) >> 10));
    append_escape(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    return;
  }
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
}

char short_escape(char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

// Printed as it is, in every form; nearly all text is.
bool is_plain(char c) { return c >= 0x20 && c <= 0x7E && c != '"' && c != '\\'; }

constexpr std::size_t piece = 65536;  // what is gathered before a sink gets it

class Printer {
 public:
  using Sink = std::function<void(std::string_view)>;

  Printer(int indent, bool canonical) : indent_(indent), canonical_(canonical) {}

  std::string print(const Value& value) {
    append(value);
    return std::move(out_);
  }

  void print(const Value& value, const Sink& sink) {
    sink_ = &sink;
    append(value);
    sink(out_);
  }

 private:
  void hand_on() {
    if (sink_ == nullptr || out_.size() < piece) return;
    (*sink_)(out_);
    out_.clear();
  }

  void append(const Value& value) {
    hand_on();
    switch (value.kind()) {
      case ValueKind::null: out_ += "null"; break;
      case ValueKind::boolean: out_ += value.boolean() ? "true" : "false"; break;
      case ValueKind::integer: fmt::format_to(std::back_inserter(out_), "{}", value.integer()); break;
      case ValueKind::real: append_real(value.real()); break;
      case ValueKind::string: append_string(value.string()); break;
      case ValueKind::array: append_array(value.array()); break;
      case ValueKind::object: append_object(value.object()); break;
    }
  }

  void append_real(double number) {
    if (!std::isfinite(number)) {
      out_ += "null";
      return;
    }
    const auto text = fmt::format("{}", number);
    out_ += text;
    // Otherwise it would be read back as an integer.
    if (text.find_first_of(".e") == std::string::npos) out_ += ".0";
  }

  void append_string(std::string_view text) {
    out_ += '"';
    while (!text.empty()) {
      hand_on();
      const auto near = text.substr(0, piece);
      const auto plain = static_cast<std::size_t>(std::find_if_not(near.begin(), near.end(), is_plain) - near.begin());
      out_ += text.substr(0, plain);
      text.remove_prefix(plain);
      if (plain == near.size()) continue;
      const auto [code, length] = first_code_point(text);
      const bool broken = length == 1 && code > 0xFF;
      if (const char letter = short_escape(text[0]); letter != 0) (out_ += '\\') += letter;
      else if (code < 0x20 || broken || (canonical_ && code > 0x7E)) append_escape(out_, code);
      else out_ += text.substr(0, length);
      text.remove_prefix(length);
    }
    out_ += '"';
  }

  void append_array(const Array& array) {
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < array.size(); ++i) {
      separate(i);
      append(array[i]);
    }
    close(array.empty(), ']');
  }

  void append_object(const Object& object) {
    std::vector<const Member*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    if (canonical_) std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->name < b->name; });
    out_ += '{';
    ++depth_;
    for (std::size_t i = 0; i < members.size(); ++i) {
      separate(i);
      append_string(members[i]->name);
      out_ += canonical_ ? ":" : ": ";
      append(members[i]->value);
    }
    close(object.empty(), '}');
  }

  void separate(std::size_t index) {
    if (index != 0) out_ += indent_ < 0 && !canonical_ ? ", " : ",";
    break_line();
  }
  void close(bool empty, char bracket) {
    --depth_;
    if (!empty) break_line();
    out_ += bracket;
  }
  void break_line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
  }

  int indent_;
  bool canonical_;
  std::size_t depth_ = 0;
  const Sink* sink_ = nullptr;
  std::string out_ = {};
};

}  // namespace

std::string print_json(const Value& value, int indent) { return Printer(indent, /*canonical=*/false).print(value); }

void print_json(const Value& value, int indent, const std::function<void(std::string_view)>& sink) {
  Printer(indent, /*canonical=*/false).print(value, sink);
}

std::string canonical_json(const Value& value) { return Printer(/*indent=*/-1, /*canonical=*/true).print(value); }

}  // namespace harn::base
