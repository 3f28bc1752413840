import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { type AddressClass, classifyAddress, isReachable, readCidr } from "../../src/platform/net/address.ts";
import { itemAt } from "../support/items.ts";

Deno.test("verdictOf() names the category of an address", () => {
  const cases: Record<string, AddressClass> = {
    "8.8.8.8": "public",
    "1.1.1.1": "public",
    "0.0.0.0": "this_network",
    "127.0.0.1": "loopback",
    "127.255.255.255": "loopback",
    "169.254.169.254": "link_local",
    "169.254.170.2": "link_local",
    "169.254.170.23": "link_local",
    "168.63.129.16": "cloud_platform",
    "100.100.100.200": "shared",
    "192.0.0.192": "protocol_assignment",
    "224.0.0.1": "multicast",
    "255.255.255.255": "broadcast",
    "240.0.0.1": "reserved",
    "192.0.2.1": "documentation",
    "198.18.0.1": "benchmarking",
    "203.0.113.9": "documentation",
    "192.88.99.1": "relay_6to4",
    "2606:4700::1111": "public",
    "::": "not_global_unicast",
    "::1": "not_global_unicast",
    "::ffff:127.0.0.1": "not_global_unicast",
    "::ffff:7f00:1": "not_global_unicast",
    "::ffff:8.8.8.8": "not_global_unicast",
    "::127.0.0.1": "not_global_unicast",
    "::ffff:0:7f00:1": "not_global_unicast",
    "::5efe:7f00:1": "not_global_unicast",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::a9fe:a9fe": "link_local",
    "64:ff9b::808:808": "public",
    "64:ff9b:1::1": "not_global_unicast",
    "2002:7f00:1::": "tunnel_6to4",
    "2001:0:1::1": "protocol_assignment",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "fe80::1": "not_global_unicast",
    "fec0::1": "not_global_unicast",
    "fc00::1": "not_global_unicast",
    "fd00:ec2::254": "not_global_unicast",
    "fd20:ce::254": "not_global_unicast",
    "ff02::1": "not_global_unicast",
    "100::1": "not_global_unicast",
    "5f00::1": "not_global_unicast",
  };
  for (const [text, verdict] of Object.entries(cases)) assertEquals([text, classifyAddress(text)], [text, verdict]);
});

Deno.test("verdictOf() ends each private block at its last address", () => {
  const blocks: [string, string, string, string][] = [
    ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
    ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
    ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
    ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
    ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
    ["1fff:ffff::", "2001::", "2001:1ff:ffff::", "2001:200::"],
  ];
  for (const [before, first, last, after] of blocks) {
    assertEquals([first, last].map((text) => isReachable(classifyAddress(text))), [false, false]);
    assertEquals([before, after].map((text) => isReachable(classifyAddress(text))), [before.includes("."), true]);
  }
});

Deno.test("verdictOf() rejects every other spelling of an address", () => {
  for (
    const text of [
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.0.0.1.",
      "[::1]",
      "fe80::1%eth0",
      "",
      "a.b",
      "1.2.3",
      "1.2.3.4.5",
      "256.1.1.1",
    ]
  ) {
    assertEquals([text, classifyAddress(text)], [text, "not_an_address"]);
  }
});

Deno.test("verdictOf() exempts only the operator's blocks", () => {
  const allow = [readCidr("127.0.0.1/32"), readCidr("10.1.2.3/16"), readCidr("fd00::/8"), readCidr("::1")];
  const verdicts = [
    "127.0.0.1",
    "127.0.0.2",
    "10.1.255.1",
    "10.2.0.0",
    "fd12::1",
    "fc00::1",
    "::1",
    "64:ff9b::7f00:1",
    "8.8.8.8",
  ]
    .map((text) => classifyAddress(text, allow));
  assertEquals(verdicts, [
    "allowed",
    "loopback",
    "allowed",
    "private",
    "allowed",
    "not_global_unicast",
    "allowed",
    "allowed",
    "public",
  ]);
});

Deno.test("readCidr() rejects a text that is no block", () => {
  for (
    const text of ["", "10.0.0.0/33", "10.0.0/8", "::/129", "fe80::%1/10", "a/8", "10.0.0.0/-1", "10.0.0.0/8x", "/8"]
  ) {
    assertThrows(() => readCidr(text), RangeError);
  }
});

/** Blocks that must be rejected, written down apart from the code: first address and prefix length. */
const FORBIDDEN_IPV4: [number, number][] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0586300, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 4],
  [0xf0000000, 4],
  [0xa83f8110, 32],
];
const isForbidden = (value: number) =>
  FORBIDDEN_IPV4.some(([first, length]) => Math.floor(value / 2 ** (32 - length)) === first / 2 ** (32 - length));

/** Any address; half of them are near the edge of a block. */
const ipv4 = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.tuple(fc.constantFrom(...FORBIDDEN_IPV4), fc.integer({ min: -2, max: 2 }), fc.boolean()).map(
    ([[first, length], step, atEnd]) => (first + (atEnd ? 2 ** (32 - length) : 0) + step + 2 ** 32) % 2 ** 32,
  ),
);
const bytesOf = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256);

/** Every notation of an IPv4 address that a URL parser accepts. */
const spelling = fc.tuple(ipv4, fc.constantFrom("dotted", "number", "hex", "octal", "mixed", "short", "wide", "dot"))
  .map(
    ([value, style]) => {
      const parts = bytesOf(value);
      const wide = (text: string) =>
        text.replace(/[0-9]/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));
      const written = {
        dotted: parts.join("."),
        number: String(value),
        hex: `0x${value.toString(16)}`,
        octal: parts.map((part) => `0${part.toString(8)}`).join("."),
        mixed: `0x${itemAt(parts, 0).toString(16)}.0${itemAt(parts, 1).toString(8)}.${
          itemAt(parts, 2) * 256 + itemAt(parts, 3)
        }`,
        short: `${parts[0]}.${value % 2 ** 24}`,
        wide: wide(parts.join(".")).replaceAll(".", "\u3002"),
        dot: `${parts.join(".")}.`,
      }[style];
      return { value, written };
    },
  );

Deno.test("every spelling of an IPv4 address gets the verdict of its block", () => {
  fc.assert(
    fc.property(spelling, ({ value, written }) => {
      const { hostname } = new URL(`https://${written}/`);
      assertEquals([written, isReachable(classifyAddress(hostname))], [written, !isForbidden(value)]);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("an IPv4 address inside IPv6 is allowed only through NAT64, and judged by its own verdict", () => {
  const prefixes = ["::", "::ffff:", "::ffff:0:", "::5efe:", "64:ff9b:1::", "fe80::5efe:"];
  fc.assert(
    fc.property(ipv4, fc.constantFrom(...prefixes), (value, prefix) => {
      const [high, low] = [Math.floor(value / 65_536), value % 65_536].map((part) => part.toString(16));
      const hostOf = (text: string) => new URL(`https://[${text}]/`).hostname.slice(1, -1);
      assertEquals(isReachable(classifyAddress(hostOf(`${prefix}${high}:${low}`))), false);
      assertEquals(isReachable(classifyAddress(hostOf(`64:ff9b::${high}:${low}`))), !isForbidden(value));
      assertEquals(isReachable(classifyAddress(hostOf(`2002:${high}:${low}::1`))), false);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("an IPv6 address is allowed only inside global unicast and outside its special blocks", () => {
  const FORBIDDEN: [bigint, bigint][] = [[0x2001_0000n >> 9n, 23n], [0x2001_0db8n, 32n], [0x2002n, 16n], [
    0x3fff_0n,
    20n,
  ]];
  const group = fc.oneof(
    fc.integer({ min: 0, max: 0xffff }),
    fc.constantFrom(0, 0x2001, 0x2002, 0x1ff, 0x200, 0xdb8, 0x3fff, 0xfff, 0x1000, 0xfe80),
  );
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const value = groups.reduce((sum, part) => sum << 16n | BigInt(part), 0n);
      const isSpecial = FORBIDDEN.some(([first, length]) => value >> (128n - length) === first);
      const isNat64 = value >> 32n === 0x0064_ff9b_0000_0000_0000_0000n;
      fc.pre(!isNat64);
      const text = groups.map((part) => part.toString(16)).join(":");
      assertEquals([text, isReachable(classifyAddress(text))], [text, value >> 125n === 1n && !isSpecial]);
    }),
    { numRuns: 3000 },
  );
});
