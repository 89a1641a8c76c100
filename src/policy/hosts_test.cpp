// SPDX-License-Identifier: Apache-2.0
#include "policy/hosts.h"

#include <gtest/gtest.h>

#include "policy/ip_address.h"

namespace harn::policy {
namespace {

struct Accepted {
  std::string text = {};
  HostRule rule = {};
};

HostRule rule_of(std::string host, std::optional<std::uint16_t> port = {}) { return {std::move(host), port}; }

TEST(HostRules, ReadEverySpellingIntoOneCanonicalForm) {
  const std::vector<Accepted> cases = {
      {"example.org", rule_of("example.org")},
      {"EXAMPLE.Org.", rule_of("example.org")},
      {"localhost", rule_of("localhost")},
      {"_dmarc.example.org", rule_of("_dmarc.example.org")},
      {"xn--bcher-kva.example", rule_of("xn--bcher-kva.example")},
      {"example.org:443", rule_of("example.org", 443)},
      {"*.Example.org", rule_of("*.example.org")},
      {"*.example.org:8443", rule_of("*.example.org", 8443)},
      {"127.0.0.1", rule_of("127.0.0.1")},
      {"127.0.0.1:65535", rule_of("127.0.0.1", 65535)},
      {"10.0.0.0/8", rule_of("10.0.0.0/8")},
      {"10.0.0.0/8:22", rule_of("10.0.0.0/8", 22)},
      {"10.1.2.3/32", rule_of("10.1.2.3")},
      {"0.0.0.0/0", rule_of("0.0.0.0/0")},
      {"::1", rule_of("::1")},
      {"[::1]", rule_of("::1")},
      {"[::1]:80", rule_of("::1", 80)},
      {"2001:DB8:0:0:1:0:0:1", rule_of("2001:db8::1:0:0:1")},
      {"2001:db8:0:1:1:1:1:1", rule_of("2001:db8:0:1:1:1:1:1")},
      {"2001:0db8::0001", rule_of("2001:db8::1")},
      {"0:0:0:0:0:0:0:0", rule_of("::")},
      {"1::", rule_of("1::")},
      {"64:ff9b::192.0.2.33", rule_of("64:ff9b::c000:221")},
      {"2001:db8::/32", rule_of("2001:db8::/32")},
      {"[2001:db8::/32]:443", rule_of("2001:db8::/32", 443)},
      {"2001:db8::1/128", rule_of("2001:db8::1")},
      {"::/0", rule_of("::/0")},
      {"::ffff:127.0.0.1", rule_of("127.0.0.1")},
      {"[::ffff:7f00:1]:80", rule_of("127.0.0.1", 80)},
      {"::ffff:10.0.0.0/104", rule_of("10.0.0.0/8")},
      {"https://example.org", rule_of("example.org", 443)},
      {"HTTP://example.org/", rule_of("example.org", 80)},
      {"wss://example.org:9443/", rule_of("example.org", 9443)},
      {"ws://*.example.org", rule_of("*.example.org", 80)},
      {"http://[2001:db8::1]:8080/", rule_of("2001:db8::1", 8080)},
  };
  for (const auto& [text, rule] : cases) {
    const auto parsed = parse_host_rule(text);
    ASSERT_TRUE(parsed) << text << ": " << describe(parsed.error());
    EXPECT_EQ(*parsed, rule) << text;
    const auto again = parse_host_rule(text_of(*parsed));
    ASSERT_TRUE(again) << text_of(*parsed);
    EXPECT_EQ(*again, *parsed) << text;
  }
}

struct Refused {
  std::string text = {};
  std::string message = {};
  std::string hint = {};
};

void expect_refused(const std::vector<Refused>& cases) {
  for (const auto& [text, message, hint] : cases) {
    const auto parsed = parse_host_rule(text);
    ASSERT_FALSE(parsed) << text << " became " << text_of(*parsed);
    EXPECT_EQ(parsed.error().message, message);
    EXPECT_EQ(parsed.error().hint, hint) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_policy);
    EXPECT_EQ(parsed.error().stage, Stage::parse);
  }
}

TEST(HostRules, RefuseNumericSpellingsWithTheAddressTheyHide) {
  const std::string problem = " is not an IPv4 address in its canonical form";
  const std::string loopback = "write '127.0.0.1' if that is the address you mean";
  const std::string shape = "an IPv4 address is four decimal numbers from 0 to 255";
  expect_refused({
      {"2130706433", "the host '2130706433'" + problem, loopback},
      {"0x7f000001", "the host '0x7f000001'" + problem, loopback},
      {"0X7F.1", "the host '0X7F.1'" + problem, loopback},
      {"017700000001", "the host '017700000001'" + problem, loopback},
      {"127.1", "the host '127.1'" + problem, loopback},
      {"127.0.1", "the host '127.0.1'" + problem, loopback},
      {"0177.0.0.1:80", "the host '0177.0.0.1'" + problem, loopback},
      {"http://0x7f.0.0.1/", "the host '0x7f.0.0.1'" + problem, loopback},
      {"1.2.3.4.5", "the host '1.2.3.4.5'" + problem, shape},
      {"256.1.1.1", "the host '256.1.1.1'" + problem, shape},
      {"1.2.3.256", "the host '1.2.3.256'" + problem, shape},
      {"4294967296", "the host '4294967296'" + problem, shape},
      {"example.0x", "the host 'example.0x'" + problem, shape},
      {"0x", "the host '0x'" + problem, "write '0.0.0.0' if that is the address you mean"},
      {"127.1/8", "the host '127.1/8'" + problem, loopback},
  });
}

TEST(HostRules, RefuseAmbiguousOrInvisibleText) {
  expect_refused({
      {"", "the host '' is empty", "write a name such as 'example.org', an address or a CIDR block"},
      {":80", "the host '' is empty", "write a name such as 'example.org', an address or a CIDR block"},
      {"https://", "the host '' is empty", "write a name such as 'example.org', an address or a CIDR block"},
      {std::string("evil\0.example.org", 17), "the host 'evil\\x00.example.org' contains a space or control character",
       "write one host per entry, without spaces"},
      {"a b", "the host 'a b' contains a space or control character", "write one host per entry, without spaces"},
      {"bücher.example", "the host 'bücher.example' contains non-ASCII letters", "write the punycode form, which starts with 'xn--'"},
      {"fe80::1%eth0", "the host 'fe80::1%eth0' contains '%'",
       "zone ids and percent-encoding are not accepted; write the plain name or address"},
      {"user@example.org", "the host 'user@example.org' contains user information", "write only the host, without anything before '@'"},
      {"https://user@example.org/", "the host 'user@example.org' contains user information",
       "write only the host, without anything before '@'"},
      {"example.org/index.html", "the host 'example.org/index.html' contains a path",
       "rules name hosts and ports, not pages; write only the host"},
      {"example!.org", "the host 'example!.org' contains '!'", "names consist of letters, digits, '-' and '_'"},
  });
}

TEST(HostRules, RefuseMalformedNamesAndLengths) {
  const std::string label64(64, 'a');
  const std::string long_name = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') + "." + std::string(62, 'd');
  expect_refused({
      {"a..b", "the host 'a..b' has an empty label", "write labels separated by single dots"},
      {".", "the host '.' has an empty label", "write labels separated by single dots"},
      {"example.org..", "the host 'example.org..' has an empty label", "write labels separated by single dots"},
      {"-a.org", "the host '-a.org' has the label '-a'", "a label neither starts nor ends with '-'"},
      {"a-.org", "the host 'a-.org' has the label 'a-'", "a label neither starts nor ends with '-'"},
      {label64 + ".org", "the host '" + label64 + ".org' has a label of 64 characters", "a label has at most 63 characters"},
      {long_name, "the host '" + long_name.substr(0, 120) + "…' has 254 characters", "a name has at most 253 characters"},
  });
}

TEST(HostRules, TeachWhatAStarMayMean) {
  const std::string inside = "'*' only stands first, as in '*.example.org', and admits every subdomain";
  expect_refused({
      {"*", "the host '*' would admit every host", "set network mode = \"unrestricted\" if that is what you mean"},
      {"*:443", "the host '*' would admit every host", "set network mode = \"unrestricted\" if that is what you mean"},
      {"*.com", "the host '*.com' would admit every name under 'com'", "name at least two labels, for example '*.example.com'"},
      {"*x.org", "the host '*x.org' has a '*' inside a name", inside},
      {"a.*.org", "the host 'a.*.org' has a '*' inside a name", inside},
      {"*.*.org", "the host '*.*.org' has a '*' inside a name", inside},
      {"*.", "the host '*.' would admit every host", "set network mode = \"unrestricted\" if that is what you mean"},
      {"*.1.2.3.4", "the host '*.1.2.3.4' puts '*' before an address", "use a CIDR block such as '10.0.0.0/8'"},
      {"*..org", "the host '*..org' has an empty label", "write labels separated by single dots"},
  });
}

TEST(HostRules, RefuseBadBlocksPortsAndBrackets) {
  expect_refused({
      {"10.1.0.0/8", "the host '10.1.0.0/8' has address bits set beyond /8", "write '10.0.0.0/8'"},
      {"2001:db8::1/32", "the host '2001:db8::1/32' has address bits set beyond /32", "write '2001:db8::/32'"},
      {"::ffff:10.1.0.0/104", "the host '::ffff:10.1.0.0/104' has address bits set beyond /104", "write '10.0.0.0/8'"},
      {"10.0.0.0/33", "the host '10.0.0.0/33' has the prefix length '33'", "write a number from 0 to 32"},
      {"10.0.0.0/", "the host '10.0.0.0/' has the prefix length ''", "write a number from 0 to 32"},
      {"10.0.0.0/08", "the host '10.0.0.0/08' has the prefix length '08'", "write a number from 0 to 32"},
      {"::/129", "the host '::/129' has the prefix length '129'", "write a number from 0 to 128"},
      {"::/-1", "the host '::/-1' has the prefix length '-1'", "write a number from 0 to 128"},
      {"example.org:0", "the host rule 'example.org:0' has the port '0'", "a port is a number from 1 to 65535"},
      {"example.org:65536", "the host rule 'example.org:65536' has the port '65536'", "a port is a number from 1 to 65535"},
      {"example.org:", "the host rule 'example.org:' has the port ''", "a port is a number from 1 to 65535"},
      {"example.org:080", "the host rule 'example.org:080' has the port '080'", "a port is a number from 1 to 65535"},
      {"example.org:http", "the host rule 'example.org:http' has the port 'http'", "a port is a number from 1 to 65535"},
      {"[::1", "the host '[::1' has no closing ']' at its end", "write IPv6 like '[2001:db8::1]' or '[2001:db8::/32]'"},
      {"[::1]x", "the host '[::1]x' has no closing ']' at its end", "write IPv6 like '[2001:db8::1]' or '[2001:db8::/32]'"},
      {"[127.0.0.1]:80", "the host '[127.0.0.1]' has brackets around something that is not IPv6", "only IPv6 addresses stand in brackets"},
  });
}

TEST(HostRules, RefuseWhatIsNotIpv6) {
  for (const std::string text : {"1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", ":::", "12345::", "g::1", "1:2:3:4:5:6:7:8::", "::1.2.3",
                                 "1.2.3.4::", ":1:2", "::1.2.3.256"})
    expect_refused(
        {{text, "the host '" + text + "' is not an IPv6 address", "write it like '2001:db8::1', or '[2001:db8::1]:443' with a port"}});
}

TEST(HostRules, RefuseUrlPartsThatCouldNotBeEnforced) {
  expect_refused({
      {"ftp://example.org", "the host rule 'ftp://example.org' has the scheme 'ftp'",
       "only http, https, ws and wss URLs are understood; otherwise write host:port"},
      {"https://example.org/a", "the host rule 'https://example.org/a' has the path '/a'",
       "rules name hosts and ports, not pages; remove it"},
      {"https://example.org//", "the host rule 'https://example.org//' has the path '//'",
       "rules name hosts and ports, not pages; remove it"},
      {"https://example.org?q=1", "the host rule 'https://example.org?q=1' has a query or fragment",
       "rules name hosts and ports, not pages; remove it"},
      {"https://example.org/#top", "the host rule 'https://example.org/#top' has a query or fragment",
       "rules name hosts and ports, not pages; remove it"},
  });
}

}  // namespace
}  // namespace harn::policy
