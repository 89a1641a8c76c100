// SPDX-License-Identifier: Apache-2.0
// Reading JSON: the one file that sees nlohmann. Its event parser drives a builder of ours, because
// its own tree forgets where values stood, folds duplicate keys and turns large integers into floats.
#include "base/json.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace harn::base {
namespace {

// Feeds the parser and tells the builder how far it has read; nlohmann's events carry no place.
class ReadHead {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  ReadHead(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  ReadHead& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  bool operator==(const ReadHead& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Line and column of an ever-growing offset: each byte is looked at once, however many values ask.
class Ruler {
 public:
  explicit Ruler(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  Mark move_to(const char* place) {
    for (; at_ < place && at_ < end_; ++at_) step(*at_);
    return mark_;
  }
  // From here to the next value or name: only blanks and separators can stand between.
  Mark skip_to_token() {
    while (at_ < end_ && std::string_view(" \t\r\n,:").find(*at_) != std::string_view::npos) step(*at_++);
    return mark_;
  }

 private:
  void step(char c) {
    if (c == '\n') {
      ++mark_.line;
      mark_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++mark_.column;
    }
  }

  const char* at_;
  const char* end_;
  Mark mark_ = {.line = 1, .column = 1};
};

// The index of the first member whose name an earlier member already has.
std::optional<std::size_t> repeated_member(const Object& object) {
  if (object.size() < 2) return std::nullopt;
  std::vector<std::size_t> order(object.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int compared = object[a].name.compare(object[b].name);
    return compared != 0 ? compared < 0 : a < b;
  });
  std::optional<std::size_t> first;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (object[order[i]].name == object[order[i - 1]].name) first = std::min(order[i], first.value_or(order[i]));
  return first;
}

class Builder {
 public:
  using Json = nlohmann::json;

  Builder(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name), reached_(text.data()), ruler_(text) {}

  Result<Value> build() {
    if (text_.starts_with("\xEF\xBB\xBF")) {
      stop(Mark{.line = 1, .column = 1}, "the text starts with a byte order mark", "save the file as plain UTF-8");
    } else {
      const ReadHead first(reached_, &reached_);
      const ReadHead last(reached_ + text_.size(), &reached_);
      Json::sax_parse(first, last, this);
    }
    if (error_) return fail(std::move(*error_));
    return std::move(root_);
  }

  bool null() { return put(Value()); }
  bool boolean(bool v) { return put(Value(v)); }
  bool number_integer(Json::number_integer_t v) { return put(Value(std::int64_t{v})); }
  bool number_unsigned(Json::number_unsigned_t v) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return v <= most ? put(Value(static_cast<std::int64_t>(v))) : too_large(fmt::format("{}", v));
  }
  bool number_float(Json::number_float_t v, const Json::string_t& digits) {
    return digits.find_first_of(".eE") != std::string::npos ? put(Value(v)) : too_large(digits);
  }
  bool string(Json::string_t& v) { return put(Value(std::move(v))); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Value(Object{})); }
  bool start_array(std::size_t) { return open(Value(Array{})); }
  bool key(Json::string_t& name) {
    const Mark mark = token_mark();
    open_.back()->object().push_back(Member{.name = std::move(name), .value = {}, .mark = mark});
    return true;
  }
  bool end_array() { return close(); }
  bool end_object() {
    const auto& object = open_.back()->object();
    if (const auto repeated = repeated_member(object)) {
      const auto& member = object[*repeated];
      return stop(member.mark, fmt::format("the member {} appears twice", base::quoted(member.name)), "keep one of them");
    }
    return close();
  }

  // The library's own wording and token text vary between versions; ours does not.
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    const auto last = std::min(position == 0 ? 0 : position - 1, text_.size());
    const Mark mark = Ruler(text_).move_to(text_.data() + last);
    if (!valid_utf8(text_.substr(0, position)) && !valid_utf8(text_))
      return stop(mark, "the text is not valid UTF-8", "save the file as UTF-8");
    if (started_ && open_.empty()) return stop(mark, "more text follows the end of the JSON value", "remove it");
    if (last >= text_.size()) return stop(mark, "the JSON text ends too early", "close every string, list and object");
    return stop(mark, fmt::format("this is not JSON: unexpected {}", base::quoted(character_at(last))), {});
  }

 private:
  // Everything read since the previous event is separators and this one token.
  Mark token_mark() {
    const Mark mark = ruler_.skip_to_token();
    ruler_.move_to(reached_);
    return mark;
  }

  std::string_view character_at(std::size_t offset) const {
    auto end = offset + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return text_.substr(offset, end - offset);
  }

  Value* place(Value value) {
    value.mark = token_mark();
    started_ = true;
    Value* slot = &root_;
    if (!open_.empty()) {
      Value& parent = *open_.back();
      slot = parent.is(ValueKind::array) ? &parent.array().emplace_back() : &parent.object().back().value;
    }
    *slot = std::move(value);
    return slot;
  }
  bool put(Value value) {
    place(std::move(value));
    return true;
  }
  bool open(Value value) {
    if (open_.size() == static_cast<std::size_t>(max_json_depth))
      return stop(token_mark(), fmt::format("the JSON text is nested deeper than {} levels", max_json_depth), "flatten it");
    open_.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    ruler_.move_to(reached_);
    return true;
  }
  bool too_large(std::string_view digits) {
    return stop(token_mark(), fmt::format("the integer {} does not fit in 64 bits", base::quoted(digits, 40)), "write a smaller number");
  }
  bool stop(Mark mark, std::string message, std::string hint) {
    const auto place = fmt::format("{}:{}", mark.line, mark.column);
    error_ = Error{.code = ErrorCode::protocol,
                   .stage = Stage::parse,
                   .message = std::move(message),
                   .hint = std::move(hint),
                   .where = file_name_.empty() ? place : fmt::format("{}:{}", file_name_, place)};
    return false;
  }

  std::string_view text_;
  std::string_view file_name_;
  const char* reached_;
  Ruler ruler_;
  Value root_ = {};
  bool started_ = false;
  std::vector<Value*> open_ = {};  // containers not yet closed; each is the last element of the one before
  std::optional<Error> error_ = {};
};

}  // namespace

Result<Value> parse_json(std::string_view text, std::string_view file_name) { return Builder(text, file_name).build(); }

}  // namespace harn::base
