// SPDX-License-Identifier: Apache-2.0
// Values as bytes for the same program on the same machine, read back without a parser. One function per struct,
// walk(with, value), names its members; the three ways to walk are writing, reading, and telling the shape, by which a program
// with other members knows that the bytes are not for it.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harn/path.h"

namespace harn::session {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Packer {
 public:
  template <Plain T>
  void operator()(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_ += text;
  }
  void operator()(const AbsPath& path) { (*this)(path.text()); }
  template <class T>
  void operator()(const std::optional<T>& value) {
    (*this)(value.has_value());
    if (value) (*this)(*value);
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    each(list);
  }
  template <class T>
  void operator()(const std::set<T>& list) {
    each(list);
  }
  template <class K, class V, class Order>
  void operator()(const std::map<K, V, Order>& map) {
    (*this)(map.size());
    for (const auto& [key, value] : map) {
      (*this)(key);
      (*this)(value);
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void operator()(const T& value) {
    walk(*this, value);
  }

  std::string take() && { return std::move(bytes_); }

 private:
  template <class List>
  void each(const List& list) {
    (*this)(list.size());
    for (const auto& value : list) (*this)(value);
  }

  std::string bytes_ = {};
};

// Whatever does not fit makes all of it void.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  bool whole() const { return valid_ && bytes_.empty(); }

  template <Plain T>
  void operator()(T& value) {
    if (bytes_.size() < sizeof value) return spoil();
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
  }
  void operator()(bool& flag) {
    unsigned char byte = 0;
    (*this)(byte);
    flag = byte != 0;
  }
  void operator()(std::string& text) {
    const auto size = count();
    text.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  void operator()(AbsPath& path) {
    std::string text;
    (*this)(text);
    auto parsed = AbsPath::parse(text);
    if (!parsed) return spoil();
    path = std::move(*parsed);
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    bool present = false;
    (*this)(present);
    value.reset();
    if (present) (*this)(value.emplace());
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    for (auto left = count(); left != 0 && valid_; --left) (*this)(list.emplace_back());
  }
  template <class T>
  void operator()(std::set<T>& list) {
    for (auto left = count(); left != 0 && valid_; --left) list.insert(list.end(), one<T>());
  }
  template <class K, class V, class Order>
  void operator()(std::map<K, V, Order>& map) {
    for (auto left = count(); left != 0 && valid_; --left) {
      auto key = one<K>();
      (*this)(map.emplace_hint(map.end(), std::move(key), V{})->second);
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void operator()(T& value) {
    walk(*this, value);
  }

 private:
  template <class T>
  T one() {
    T value = {};
    (*this)(value);
    return value;
  }

  // Everything takes a byte at least, so what is left bounds every count.
  std::size_t count() {
    std::size_t size = 0;
    (*this)(size);
    if (size <= bytes_.size()) return size;
    spoil();
    return 0;
  }

  void spoil() {
    valid_ = false;
    bytes_ = {};
  }

  std::string_view bytes_;
  bool valid_ = true;
};

class Shape {
 public:
  template <Plain T>
  void operator()(const T&) {
    add(sizeof(T));
  }
  void operator()(const std::string&) { add('s'); }
  void operator()(const AbsPath&) { add('p'); }
  template <class T>
  void operator()(const std::optional<T>&) {
    add('o');
    (*this)(T{});
  }
  template <class T>
  void operator()(const std::vector<T>&) {
    add('v');
    (*this)(T{});
  }
  template <class T>
  void operator()(const std::set<T>&) {
    add('e');
    (*this)(T{});
  }
  template <class K, class V, class Order>
  void operator()(const std::map<K, V, Order>&) {
    add('m');
    (*this)(K{});
    (*this)(V{});
  }
  template <class T>
    requires std::is_class_v<T>
  void operator()(const T& value) {
    add('(');
    walk(*this, value);
    add(')');
  }

  std::uint64_t sum() const { return sum_; }

 private:
  void add(std::uint64_t what) { sum_ = (sum_ ^ what) * 0x100000001b3; }

  std::uint64_t sum_ = 0xcbf29ce484222325;
};

}  // namespace harn::session
