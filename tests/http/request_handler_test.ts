import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { accessLog } from "../../src/platform/http/access_log.ts";
import { createRequestHandler } from "../../src/platform/http/request_handler.ts";
import type { Handler, Route } from "../../src/platform/http/request/inbound.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { type LogFields, silentLog } from "../../src/platform/lib/basics/log.ts";
import { createRouter } from "../../src/entry/app/routing/router.ts";
import { itemAt } from "../support/items.ts";
import { rawAnswer } from "../support/raw_http.ts";
import { renderAs, testDoors } from "./test_server.ts";

const route = (path: string, handler: Handler, method: Route["method"] = "GET"): Route => ({
  method,
  path,
  handler,
  renderError: renderAs("toy"),
});
const addressOf = (door: { port: number }) => `http://127.0.0.1:${door.port}`;

testDoors("every response has its request id in the three headers that clients read", async (openServer) => {
  await using door = await openServer([route("/boom", () => {
    throw new TypeError("secret prompt");
  })]);
  const seen = new Set<string>();
  for (const path of ["/v1/models", "/none", "/boom", "/"]) {
    const response = await fetch(addressOf(door) + path, { headers: { "x-request-id": "mine" } });
    const id = response.headers.get("x-service-request-id")!;
    assertMatch(id, /^req_[0-9a-f]{24}$/);
    assertEquals([response.headers.get("x-request-id"), response.headers.get("request-id")], [id, id]);
    seen.add(id);
    await response.body?.cancel();
  }
  assertEquals(seen.size, 4);
});

testDoors(
  "an unexpected failure is a 500 in the route's error format, and its message is neither returned nor logged",
  async (openServer) => {
    await using door = await openServer([
      route("/boom", () => {
        throw new TypeError("secret prompt");
      }),
      route("/later", () => Promise.reject("secret prompt")),
    ]);
    for (const path of ["/boom", "/later"]) {
      const response = await fetch(addressOf(door) + path);
      const body = await response.json();
      assertEquals([response.status, body.shape, body.code], [500, "toy", "internal_error"]);
      assertEquals(body.requestId, response.headers.get("x-service-request-id"));
      const line = door.lines.find((line) => line.event === "request.failed" && line.requestId === body.requestId);
      assertEquals(line?.level, "error");
    }
    assertMatch(
      door.lines.find((line) => line.event === "request.failed")!.reason!,
      /^TypeError at .*request_handler_test\.ts/,
    );
    assert(!JSON.stringify(door.lines).includes("secret"));
  },
);

testDoors("the details of a failure become headers in every error format", async (openServer) => {
  const fail = (details: ConstructorParameters<typeof GatewayError>[2]) => () => {
    throw new GatewayError("rate_limited", "Cannot serve now", details);
  };
  await using door = await openServer([
    route("/wait", fail({ retryAfterSeconds: 7, provider: "openai" })),
    route("/end", fail({ closeConnection: true })),
  ]);
  const wait = await fetch(`${addressOf(door)}/wait`);
  assertEquals([wait.status, wait.headers.get("retry-after"), wait.headers.get("x-service-provider")], [
    429,
    "7",
    "openai",
  ]);
  const end = await fetch(`${addressOf(door)}/end`);
  assertEquals(end.headers.get("connection"), "close");
  await Promise.all([wait.body?.cancel(), end.body?.cancel()]);
});

testDoors("a failure whose renderer throws is still answered with its status", async (openServer) => {
  const broken: Route = {
    ...route("/broken", () => {
      throw new GatewayError("not_found", "Cannot find it");
    }),
    renderError() {
      throw new Error("no shape");
    },
  };
  await using door = await openServer([broken]);
  const response = await fetch(`${addressOf(door)}/broken`);
  assertEquals([response.status, (await response.json()).error.code], [404, "not_found"]);
});

testDoors("the base address answers tools that probe it", async (openServer) => {
  await using door = await openServer();
  const response = await fetch(addressOf(door));
  assertEquals([response.status, await response.json()], [200, { service: "switchyard", status: "ok" }]);
  const head = await fetch(addressOf(door), { method: "HEAD" });
  assertEquals(head.status, 200);
  const post = await fetch(addressOf(door), { method: "POST", body: "x" });
  assertEquals(post.status, 404);
  await post.body?.cancel();
});

testDoors("a browser's preflight allows everything and its page may read the response", async (openServer) => {
  await using door = await openServer();
  const asked = await fetch(`${addressOf(door)}/v1/read`, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,x-stainless-lang",
    },
  });
  assertEquals(asked.status, 204);
  assertEquals(asked.headers.get("access-control-allow-origin"), "*");
  assertMatch(asked.headers.get("access-control-allow-methods")!, /POST/);
  assertMatch(asked.headers.get("access-control-allow-headers")!, /Authorization.*, \*$/);

  const read = await fetch(`${addressOf(door)}/none`, { headers: { origin: "https://app.example" } });
  assertEquals(read.headers.get("access-control-allow-origin"), "*");
  assertMatch(read.headers.get("access-control-expose-headers")!, /Retry-After/);
  const plain = await fetch(`${addressOf(door)}/none`);
  assertEquals(plain.headers.get("access-control-allow-origin"), null);
  await Promise.all([read.body?.cancel(), plain.body?.cancel()]);
});

testDoors("the log has one line for each request, without its query", async (openServer) => {
  await using door = await openServer();
  await (await fetch(`${addressOf(door)}/v1/models?key=sk-canary`)).body?.cancel();
  await (await fetch(`${addressOf(door)}/v1/videos/${"v".repeat(500)}?key=sk-canary`, { method: "PUT" })).body
    ?.cancel();
  const lines = door.lines.filter((line) => line.event === "request");
  assertEquals(lines.map(({ level, method, path, status, code }) => [level, method, path?.length, status, code]), [
    ["info", "GET", 10, 200, undefined],
    ["info", "PUT", 200, 405, "method_not_allowed"],
  ]);
  assert(!JSON.stringify(door.lines).includes("canary"));
});

Deno.test("the log has the protocol of each request, and the time until its response started", async () => {
  let now = 5_000;
  const clock = { ...systemClock, now: () => now };
  const lines: LogFields[] = [];
  const slow = route("/v1/slow", () => {
    now += 40;
    const pull = (controller: ReadableStreamDefaultController) => {
      now += 1_000;
      controller.close();
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
  });
  const door = createRequestHandler({
    router: createRouter([slow], { sections: [], renderError: renderAs("toy") }),
    log: silentLog,
    clock,
    observer: accessLog({ ...silentLog, info: (_event, fields = {}) => void lines.push(fields) }, clock),
  });
  const info = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 } } as unknown as Deno.ServeHandlerInfo;
  const paths = ["/v1/slow", "/msgcompat/v1/messages", "/gencompat", "/admin/v1/accounts", "/healthz", "/", "/v12/x"];
  for (const path of paths) {
    const headers = { host: "gateway.example" };
    await (await door(new Request(`http://gateway.example${path}`, { headers }), info)).text();
  }
  assertEquals(lines.map(({ protocol }) => protocol), [
    "default",
    "message",
    "content",
    "admin",
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals([lines[0]?.firstByteMs, itemAt(lines, 0).durationMs, now], [40, 40, 6_040]);
});

testDoors("a response with immutable headers gets its request id as well", async (openServer) => {
  await using door = await openServer([
    route("/moved", () => Response.redirect("https://files.example/x", 302)),
  ]);
  const response = await fetch(`${addressOf(door)}/moved`, { redirect: "manual" });
  assertEquals([response.status, response.headers.get("location")], [302, "https://files.example/x"]);
  assertNotEquals(response.headers.get("x-service-request-id"), null);
});

Deno.test("a server that shuts down asks its clients to reconnect", async () => {
  const door = createRequestHandler({
    router: createRouter([], { sections: [], renderError: renderAs("toy") }),
    log: silentLog,
    clock: systemClock,
    isDraining: () => true,
  });
  const request = new Request("http://gateway.example/", { headers: { host: "gateway.example" } });
  const info = { remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 } } as unknown as Deno.ServeHandlerInfo;
  assertEquals((await door(request, info)).headers.get("connection"), "close");
});

testDoors("a handler gets its peer, the raw path and the query", async (openServer) => {
  await using door = await openServer([
    route(
      "/echo/:model",
      ({ remote, path, query, params, method, receivedAt }) =>
        Response.json({ remote, path, query, params, method, isRecent: Date.now() - receivedAt < 60_000 }),
    ),
  ]);
  const response = await fetch(`${addressOf(door)}/echo/a%2Fb?x=%20&y`);
  assertEquals(await response.json(), {
    remote: "127.0.0.1",
    path: "/echo/a%2Fb",
    query: "x=%20&y",
    params: { model: "a/b" },
    method: "GET",
    isRecent: true,
  });
});

testDoors(
  "a handler gets header fields as they were sent, also those with other bytes than ASCII",
  async (openServer) => {
    await using door = await openServer([
      route(
        "/fields",
        ({ request }) => Response.json([...request.headers].filter(([name]) => /^x-[a-z]+$/.test(name))),
      ),
    ]);
    const head =
      "GET /fields HTTP/1.1\r\nHost: a\r\nX-Plain: one\r\nX-Name: \u00e9\u00fc \u00ff\r\nX-Two: 1\r\nX-Two: 2\r\n\r\n";
    const { body } = await rawAnswer(door.port, head);
    const fields: [string, string][] = JSON.parse(body);
    const decoded = fields.map(([name, value]) => [name, decodedLatin1(value)]);
    assertEquals(decoded.sort(), [["x-name", "\u00e9\u00fc \u00ff"], ["x-plain", "one"], ["x-two", "1, 2"]]);
  },
);

/** `rawAnswer` has a character for each byte, and the body is UTF-8. */
function decodedLatin1(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
}
