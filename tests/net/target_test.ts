import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { readCidr } from "../../src/platform/net/address.ts";
import { EgressError } from "../../src/platform/net/egress_error.ts";
import { checkTarget, checkTargetUrl, type EgressPolicy, vetTarget } from "../../src/platform/net/target.ts";

const HTTPS = ["https:"] as const;
const DNS: Record<string, readonly string[]> = {
  "public.example": ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"],
  "mixed.example": ["93.184.216.34", "10.0.0.1"],
  "loop6.example": ["93.184.216.34", "::1"],
  "metadata.example": ["169.254.169.254"],
  "nat64.example": ["64:ff9b::5db8:d822"],
  "own.example": ["93.184.216.99"],
  "zone.example": ["fe80::1%eth0"],
  "localhost": ["127.0.0.1"],
  "printer.local": ["10.0.0.9"],
  "intranet": ["93.184.216.34"],
  "xn--bcher-kva.example": ["93.184.216.34"],
};
const policy: EgressPolicy = {
  allow: [],
  own: [{ host: "gateway.example", port: 443 }, { host: "93.184.216.99", port: 8787 }],
  resolve: (name) => {
    if (name === "servfail.example") {
      return Promise.reject(Object.assign(new Error("no answer"), { code: "ESERVFAIL" }));
    }
    if (DNS[name] === undefined) return Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }));
    return Promise.resolve(DNS[name]);
  },
};

/** The rule that the URL alone breaks. */
function ruleOf(text: unknown, of: EgressPolicy = policy): string | undefined {
  const error = assertThrows(() => checkTargetUrl(text, HTTPS, of), EgressError);
  assertEquals(error.kind, "refused");
  return error.details.rule;
}

Deno.test("checkTargetUrl() accepts addresses of public hosts", () => {
  const accepted = [
    "https://public.example/hook?x=1",
    "HTTPS://Public.Example:8443/hook",
    "https://public.example./",
    "https://93.184.216.34/",
    "https://[2606:2800:220:1:248:1893:25c8:1946]/",
    "https://[64:ff9b::808:808]/",
    "https://b\u00fccher.example/",
    "https://xn--bcher-kva.example/",
    "https://a_b.example/",
    ...["9.255.255.255", "11.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "100.63.255.255"]
      .map((host) => `https://${host}/`),
  ];
  for (const text of accepted) checkTargetUrl(text, HTTPS, policy);
});

Deno.test("checkTargetUrl() names the rule that an address breaks", () => {
  const hosts = (rule: string, ...names: string[]) => names.map((name) => [`https://${name}/`, rule]);
  const cases = [
    ...[
      "//host/x",
      "https:",
      "",
      "public.example",
      "https:public.example",
      "https:/public.example",
      " https://public.example",
      "https://pub\tlic.example",
      "https://",
      "https://a b/",
    ].map((text) => [text, "syntax"]),
    ...[17, null, undefined, {}, ["https://public.example/"]].map((value) => [value, "syntax"]),
    ["http://public.example/", "scheme"],
    ["ftp://public.example/", "scheme"],
    ["javascript:alert(1)", "syntax"],
    ["file:///etc/passwd", "scheme"],
    [`https://public.example/${"a".repeat(3000)}`, "length"],
    ["https://user:pw@example.com/", "userinfo"],
    ["https://user@example.com/", "userinfo"],
    ["https://example.com:443@127.0.0.1/", "userinfo"],
    ...[0, 22, 25, 6667].map((port) => [`https://public.example:${port}/`, "port"]),
    ["https://gateway.example/v1/videos", "own_address"],
    ["https://GATEWAY.example.:443/", "own_address"],
    ["https://93.184.216.99:8787/", "own_address"],
    ...hosts(
      "local_name",
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "printer.local",
      "intranet",
      "x.home.arpa",
      "metadata.google.internal",
      "metadata.goog",
      "instance-data",
      "a.internal.",
    ),
    ...hosts("host", `${"a".repeat(64)}.example`, `${"a.".repeat(125)}example`, "a..example"),
    ...hosts(
      "private_address",
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.0.0.1.",
      "0",
      "0.0.0.0",
      "\u2460\u2461\u2466.0.0.1",
      "127\u30020\u30020\u30021",
      "127.0.0\u00ad.1",
      "10.0.0.0",
      "10.255.255.255",
      "172.16.0.0",
      "172.31.255.255",
      "192.168.0.0",
      "192.168.255.255",
      "100.64.0.0",
      "100.127.255.255",
      "169.254.169.254",
      "169.254.170.2",
      "169.254.170.23",
      "168.63.129.16",
      "100.100.100.200",
      "192.0.0.192",
      "224.0.0.1",
      "255.255.255.255",
      "240.0.0.1",
      "192.0.2.1",
      "198.18.0.1",
      "203.0.113.9",
      "192.88.99.1",
    ),
    ...hosts(
      "private_address",
      "[::]",
      "[::1]",
      "[fd00:ec2::254]",
      "[fd00:ec2::23]",
      "[fd20:ce::254]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[::127.0.0.1]",
      "[::ffff:0:7f00:1]",
      "[64:ff9b::7f00:1]",
      "[64:ff9b:1::1]",
      "[2002:7f00:1::]",
      "[2001:0:1::1]",
      "[::5efe:7f00:1]",
      "[fe80::1]",
      "[fec0::1]",
      "[fc00::1]",
      "[ff02::1]",
      "[100::1]",
      "[5f00::1]",
      "[2001:db8::1]",
    ),
    ...hosts("syntax", "[fe80::1%25eth0]", "[::1", "a:99999"),
  ];
  for (const [text, rule] of cases) assertEquals([text, ruleOf(text)], [text, rule]);
});

Deno.test("vetTarget() rejects a name when any of its addresses is forbidden, and shows no address", async () => {
  for (const name of ["mixed.example", "loop6.example", "metadata.example", "zone.example"]) {
    const error = await assertRejects(() => vetTarget(`https://${name}/`, HTTPS, policy), EgressError);
    assertEquals([name, error.kind, error.details.rule], [name, "refused", "private_address"]);
    assertEquals(/\d/.test(error.message), false);
  }
  const own = await assertRejects(() => vetTarget("https://own.example:8787/", HTTPS, policy), EgressError);
  assertEquals(own.details.rule, "own_address");
});

Deno.test("vetTarget() returns every address of a public name", async () => {
  assertEquals((await vetTarget("https://public.example/", HTTPS, policy)).addresses, DNS["public.example"]);
  assertEquals((await vetTarget("https://nat64.example/", HTTPS, policy)).addresses, DNS["nat64.example"]);
  assertEquals((await vetTarget("https://93.184.216.34/", HTTPS, policy)).addresses, ["93.184.216.34"]);
  assertEquals((await vetTarget("https://b\u00fccher.example/", HTTPS, policy)).addresses, ["93.184.216.34"]);
});

Deno.test("vetTarget() allows local names only when the operator allows their addresses", async () => {
  const open = { ...policy, allow: [readCidr("127.0.0.0/8"), readCidr("10.0.0.0/24")] };
  for (const name of ["localhost", "printer.local", "127.0.0.1"]) await vetTarget(`https://${name}/`, HTTPS, open);
  const error = await assertRejects(() => vetTarget("https://intranet/", HTTPS, open), EgressError);
  assertEquals(error.details.rule, "local_name");
  assertEquals(ruleOf("https://192.168.0.1/", open), "private_address");
  assertEquals(ruleOf("https://gateway.example/", { ...open, allow: [readCidr("0.0.0.0/0")] }), "own_address");
});

Deno.test("checkTarget() rejects a name that does not exist and accepts one that cannot be resolved now", async () => {
  const error = await assertRejects(() => checkTarget("https://nothing.example/", HTTPS, policy), EgressError);
  assertEquals(error.kind, "unresolved");
  assertEquals((await checkTarget("https://servfail.example/x", HTTPS, policy)).href, "https://servfail.example/x");
  await assertRejects(() => checkTarget("https://mixed.example/", HTTPS, policy), EgressError);
  const empty = { ...policy, resolve: () => Promise.resolve([]) };
  await assertRejects(() => checkTarget("https://public.example/", HTTPS, empty), EgressError, "no address");
});

Deno.test("vetTarget() times out after five seconds when the resolver does not answer", async () => {
  const waits: number[] = [];
  const clock = {
    ...systemClock,
    after(delayMs: number, callback: () => void) {
      waits.push(delayMs);
      queueMicrotask(callback);
      return () => {};
    },
  };
  const silent: EgressPolicy = { ...policy, clock, resolve: () => new Promise(() => {}) };
  const error = await assertRejects(() => vetTarget("https://public.example/", HTTPS, silent), EgressError);
  assertEquals([error.kind, waits], ["unresolved", [5000]]);
  assertEquals((await checkTarget("https://public.example/", HTTPS, silent)).hostname, "public.example");
});

Deno.test("checkTargetUrl() accepts http when the policy allows it", () => {
  assertEquals(checkTargetUrl("http://public.example:8080/x", ["https:", "http:"], policy).port, "8080");
  const error = assertThrows(() => checkTargetUrl("ftp://public.example/", ["https:", "http:"], policy), EgressError);
  assertEquals(error.message, "expected the scheme https or http");
});
