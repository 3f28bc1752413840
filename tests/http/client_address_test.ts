import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { clientAddressOf } from "../../src/platform/http/client_address.ts";
import { createRequestHandler } from "../../src/platform/http/request_handler.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { readCidr } from "../../src/platform/net/address.ts";
import { createRouter } from "../../src/entry/app/routing/router.ts";
import { renderAs } from "./test_server.ts";

const TRUSTED = ["10.0.0.0/8", "fd00::/8"].map(readCidr);

Deno.test("the client is the rightmost address that is not a trusted proxy's", () => {
  const cases: readonly (readonly [peer: string, forwarded: string | null, client: string])[] = [
    ["10.0.0.1", null, "10.0.0.1"],
    ["10.0.0.1", "192.0.2.7", "192.0.2.7"],
    ["10.0.0.1", "1.1.1.1, 192.0.2.7, 10.0.0.9", "192.0.2.7"],
    ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    // A peer that is no proxy writes what it wants.
    ["192.0.2.1", "1.1.1.1", "192.0.2.1"],
    // The entries left of an unreadable one may be invented.
    ["10.0.0.1", "1.1.1.1, unknown", "10.0.0.1"],
    ["10.0.0.1", "1.1.1.1, , 10.0.0.2", "10.0.0.2"],
    ["10.0.0.1", "", "10.0.0.1"],
    // Ports, brackets, and IPv4 within IPv6.
    ["::ffff:10.0.0.1", "192.0.2.7:4711", "192.0.2.7"],
    ["fd00::1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["fd00::1", "2001:DB8:0::7", "2001:db8::7"],
    ["10.0.0.1", "::ffff:192.0.2.7", "192.0.2.7"],
    ["10.0.0.1", "0x7f.1", "10.0.0.1"],
  ];
  for (const [peer, forwarded, client] of cases) {
    assertEquals(clientAddressOf(peer, forwarded, TRUSTED), client, `${peer} ${forwarded}`);
  }
});

Deno.test("what a client invents never changes its address behind a trusted proxy", () => {
  fc.assert(fc.property(fc.string({ maxLength: 3_000 }), (invented) => {
    assertEquals(clientAddressOf("10.0.0.1", `${invented}, 192.0.2.7`, TRUSTED), "192.0.2.7");
  }));
});

Deno.test("a handler sees the forwarded address only behind a trusted proxy", async () => {
  const seen: string[] = [];
  const route = {
    method: "GET",
    path: "/seen",
    handler: ({ remote }: { readonly remote: string }) => {
      seen.push(remote);
      return new Response();
    },
    renderError: renderAs("toy"),
  } as const;
  for (const trustedProxies of [TRUSTED, []]) {
    const handler = createRequestHandler({
      router: createRouter([route], { sections: [], renderError: renderAs("toy") }),
      log: silentLog,
      clock: systemClock,
      trustedProxies,
    });
    const headers = new Headers({ host: "gateway.example", "x-forwarded-for": "1.1.1.1" });
    headers.append("x-forwarded-for", "192.0.2.7");
    const info = {
      remoteAddr: { transport: "tcp", hostname: "10.0.0.1", port: 1 },
    } as unknown as Deno.ServeHandlerInfo;
    await handler(new Request("http://gateway.example/seen", { headers }), info);
  }
  assertEquals(seen, ["192.0.2.7", "10.0.0.1"]);
});
