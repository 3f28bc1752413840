import { assertEquals } from "@std/assert";
import { originOf } from "../../src/platform/net/http1/wire_request.ts";
import { proxyFor, readProxies } from "../../src/platform/net/proxy.ts";

function proxiesOf(env: Readonly<Record<string, string>>) {
  const bad: string[] = [];
  const proxies = readProxies((name) => env[name], (name) => void bad.push(name));
  return { proxies, bad };
}

Deno.test("readProxies() reads host, port and credentials, and prefers lower-case names", () => {
  const { proxies } = proxiesOf({
    HTTPS_PROXY: "http://ignored:1",
    https_proxy: "http://me:p%40ss@proxy.internal:3128",
    HTTP_PROXY: "proxy.internal",
  });
  assertEquals(proxies.https, {
    hostname: "proxy.internal",
    port: 3128,
    authorization: `Basic ${btoa("me:p@ss")}`,
  });
  assertEquals(proxies.http, { hostname: "proxy.internal", port: 80, authorization: null });
});

Deno.test("readProxies() treats empty variables as unset", () => {
  assertEquals(proxiesOf({ https_proxy: "", HTTPS_PROXY: "proxy:1" }).proxies.https?.port, 1);
  assertEquals(proxiesOf({ HTTPS_PROXY: "" }), { proxies: { https: null, http: null, exceptions: [] }, bad: [] });
});

Deno.test("readProxies() names a variable that is no address of an HTTP proxy", () => {
  for (const address of ["socks5://proxy:1080", "https://proxy:443", "http://", "http://proxy:99999", "a b"]) {
    assertEquals(proxiesOf({ HTTPS_PROXY: address }).bad, ["HTTPS_PROXY"], address);
  }
});

const DIRECT: readonly (readonly [noProxy: string, url: string, isDirect: boolean])[] = [
  ["", "https://api.example.com", false],
  ["*", "https://api.example.com", true],
  ["example.com", "https://example.com", true],
  ["example.com", "https://api.example.com", true],
  ["example.com", "https://notexample.com", false],
  [".example.com", "https://api.example.com", true],
  ["*.example.com", "https://api.example.com", true],
  ["EXAMPLE.com", "https://API.example.COM", true],
  ["example.com:8443", "https://example.com:8443", true],
  ["example.com:8443", "https://example.com", false],
  ["other.org, example.com", "https://example.com", true],
  ["other.org example.com", "https://example.com", true],
  ["10.0.0.0/8", "https://10.1.2.3", true],
  ["10.0.0.0/8", "https://11.1.2.3", false],
  ["10.0.0.0/8", "https://ten.example.com", false],
  ["10.1.2.3", "https://10.1.2.3", true],
  ["10.1.2.3:444", "https://10.1.2.3", false],
  ["[2001:db8::1]", "https://[2001:db8::1]", true],
  ["2001:db8::/32", "https://[2001:db8::5]", true],
  ["", "https://localhost:1", true],
  ["", "https://127.0.0.1:1", true],
  ["", "https://[::1]:1", true],
];

for (const [noProxy, url, isDirect] of DIRECT) {
  Deno.test(`proxyFor() connects ${isDirect ? "directly" : "by proxy"} to ${url} with NO_PROXY="${noProxy}"`, () => {
    const { proxies } = proxiesOf({ HTTPS_PROXY: "http://proxy:3128", NO_PROXY: noProxy });
    assertEquals(proxyFor(originOf(new URL(url)), proxies) === null, isDirect);
  });
}

Deno.test("proxyFor() keeps the proxies of http and https apart", () => {
  const { proxies } = proxiesOf({ HTTPS_PROXY: "secure:1" });
  assertEquals(proxyFor(originOf(new URL("http://example.com")), proxies), null);
  assertEquals(proxyFor(originOf(new URL("https://example.com")), proxies)?.hostname, "secure");
});
