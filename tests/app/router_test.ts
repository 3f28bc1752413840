import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { ErrorRenderer, Route } from "../../src/platform/http/request/inbound.ts";
import { createRouter, type Router } from "../../src/entry/app/routing/router.ts";
import { atLeast } from "../support/items.ts";

const render: ErrorRenderer = () => new Response();
const renderMessage: ErrorRenderer = () => new Response();
const renderVideo: ErrorRenderer = () => new Response();

/** A router of lines such as `GET /v1/models`. */
function routerOf(...lines: string[]): Router {
  const routes = lines.map((line): Route => {
    const [method, path] = atLeast(line.split(" "), 2);
    return { method: method as Route["method"], path, handler: () => new Response(), renderError: render };
  });
  return createRouter(routes, {
    sections: [{ prefix: "/msgcompat", renderError: renderMessage }, { prefix: "/v1", renderError: render }, {
      prefix: "/v1/videos",
      renderError: renderVideo,
    }],
    renderError: render,
  });
}

/** The route's line with its parameters, or the failure's code with its methods. */
function outcomeOf(router: Router, method: string, path: string): string {
  const match = router.match(method, path);
  if (match.route === null) return [match.error.code, ...match.error.details.allow ?? []].join(" ");
  return [match.route.path, ...Object.entries(match.params).map(([name, value]) => `${name}=${value}`)].join(" ");
}

const gateway = () =>
  routerOf(
    "GET /v1/models",
    "GET /v1/models/:provider",
    "GET /v1/models/:provider/:model",
    "GET /v1/models/:model*",
    "POST /v1/videos",
    "GET /v1/videos",
    "GET /v1/videos/:id",
    "DELETE /v1/videos/:id",
    "GET /v1/videos/:id/content",
    "POST /gencompat/v1beta/models/:model*:generateContent",
    "POST /gencompat/v1beta/models/:model*:countTokens",
    "POST /gencompat/v1beta/:model*:generateContent",
    "GET /gencompat/v1beta/models/:provider/:model",
    "POST /gencompat/v1beta/cachedContents",
    "POST /admin/v1/keys/:id::revoke",
  );

Deno.test("match() finds literals, parameters, rests and verbs", () => {
  const router = gateway();
  const cases: [string, string, string][] = [
    ["GET", "/v1/models", "/v1/models"],
    ["GET", "/v1/models/openai", "/v1/models/:provider provider=openai"],
    ["GET", "/v1/models/openai/gpt-5", "/v1/models/:provider/:model provider=openai model=gpt-5"],
    ["GET", "/v1/models/openai%2Fgpt-5", "/v1/models/:model* model=openai/gpt-5"],
    ["GET", "/v1/models/a/b/c", "/v1/models/:model* model=a/b/c"],
    ["GET", "/v1/videos/x%20y", "/v1/videos/:id id=x y"],
    ["GET", "/v1/videos/x/content", "/v1/videos/:id/content id=x"],
    [
      "POST",
      "/gencompat/v1beta/models/g/m:generateContent",
      "/gencompat/v1beta/models/:model*:generateContent model=g/m",
    ],
    ["POST", "/gencompat/v1beta/models/g%2Fm:countTokens", "/gencompat/v1beta/models/:model*:countTokens model=g/m"],
    ["POST", "/gencompat/v1beta/models/m:generateContent", "/gencompat/v1beta/models/:model*:generateContent model=m"],
    [
      "POST",
      "/gencompat/v1beta/models/m:free:generateContent",
      "/gencompat/v1beta/models/:model*:generateContent model=m:free",
    ],
    ["POST", "/gencompat/v1beta/g/m:generateContent", "/gencompat/v1beta/:model*:generateContent model=g/m"],
    ["GET", "/gencompat/v1beta/models/g/m:free", "/gencompat/v1beta/models/:provider/:model provider=g model=m:free"],
    ["POST", "/admin/v1/keys/k1:revoke", "/admin/v1/keys/:id::revoke id=k1"],
  ];
  for (const [method, path, expected] of cases) assertEquals([path, outcomeOf(router, method, path)], [path, expected]);
});

Deno.test("match() serves HEAD by GET and ignores one final slash", () => {
  const router = gateway();
  assertEquals(outcomeOf(router, "HEAD", "/v1/models"), "/v1/models");
  assertEquals(outcomeOf(router, "GET", "/v1/models/"), "/v1/models");
  assertEquals(outcomeOf(router, "GET", "/v1/videos/x/"), "/v1/videos/:id id=x");
  assertEquals(outcomeOf(router, "GET", "/v1/models//"), "not_found");
});

Deno.test("match() distinguishes an unknown path from an unknown method", () => {
  const router = gateway();
  const cases: [string, string, string][] = [
    ["GET", "/v1/nothing", "not_found"],
    ["GET", "/v1", "not_found"],
    ["GET", "/", "not_found"],
    ["GET", "", "not_found"],
    ["PUT", "/v1/videos/x", "method_not_allowed GET DELETE"],
    ["DELETE", "/v1/videos", "method_not_allowed POST GET"],
    ["HEAD", "/gencompat/v1beta/cachedContents", "method_not_allowed POST"],
    ["POST", "/v1/models/a/b", "method_not_allowed GET"],
    ["POST", "/gencompat/v1beta/models/g/m", "not_found"],
    ["POST", "/gencompat/v1beta/models/g/m:fly", "not_found"],
    ["POST", "/gencompat/v1beta/models/:generateContent", "not_found"],
    ["POST", "/admin/v1/keys/a/b:revoke", "not_found"],
  ];
  for (const [method, path, expected] of cases) assertEquals([path, outcomeOf(router, method, path)], [path, expected]);
});

Deno.test("match() gives the error format of the longest prefix of whole segments", () => {
  const router = gateway();
  const rendererOf = (path: string) => {
    const match = router.match("GET", path);
    return match.route === null ? match.renderError : null;
  };
  assertStrictEquals(rendererOf("/msgcompat/v1/nothing"), renderMessage);
  assertStrictEquals(rendererOf("/msgcompat"), renderMessage);
  assertStrictEquals(rendererOf("/msgcompat2"), render);
  assertStrictEquals(rendererOf("/v1/videos/a/b"), renderVideo);
  assertStrictEquals(router.rendererFor("/v1/videosx"), render);
});

Deno.test("match() refuses a parameter with an ambiguous reading", () => {
  const router = gateway();
  const values = [
    "..",
    ".",
    "%2e%2e",
    "%2E",
    "%00",
    "a%0a",
    "a%7f",
    "%zz",
    "%",
    "%c0%af",
    "%e0%80%af",
    "%ff",
    "a%5cb",
    "a\\b",
  ];
  const slashes = [
    "/v1/videos/a%2Fb",
    "/v1/models/a%2F..%2Fb",
    "/v1/models/..%2Fb/c",
    "/v1/models/%2F",
    "/v1/models/a%2F",
  ];
  const paths = values.flatMap((value) => [`/v1/videos/${value}`, `/v1/models/p/${value}`, `/v1/models/${value}/m`]);
  for (const path of [...paths, ...slashes, "/v1/models//m", "/v1/videos//content"]) {
    assertEquals([path, outcomeOf(router, "GET", path)], [path, "not_found"]);
  }
  for (const value of [...values, ""]) {
    const path = `/gencompat/v1beta/models/g/${value}:generateContent`;
    assertEquals([path, outcomeOf(router, "POST", path)], [path, "not_found"]);
  }
});

Deno.test("match() decodes once", () => {
  assertEquals(outcomeOf(gateway(), "GET", "/v1/videos/a%252Fb"), "/v1/videos/:id id=a%2Fb");
});

Deno.test("match() decodes what was encoded", () => {
  const router = gateway();
  const segment = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) =>
    !/[\p{Cc}/\\]/u.test(text) && !/^\.\.?$/.test(text)
  );
  fc.assert(fc.property(segment, segment, (provider, model) => {
    const match = router.match("GET", `/v1/models/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`);
    assert(match.route !== null);
    assertEquals(match.params, { provider, model });
  }));
});

Deno.test("match() survives any path", () => {
  const router = gateway();
  const piece = fc.constantFrom(
    "/",
    "v1",
    "models",
    "videos",
    "%",
    "%2",
    "%2F",
    "%00",
    ":",
    "*",
    "..",
    "gencompat",
    "v1beta",
    ":generateContent",
    "é",
    "__proto__",
  );
  fc.assert(fc.property(fc.array(piece), (pieces) => void router.match("GET", `/${pieces.join("")}`)));
});

Deno.test("methodsOf() lists a path's methods in the order of the table", () => {
  const router = gateway();
  assertEquals(router.methodsOf("/v1/videos/x"), ["GET", "DELETE"]);
  assertEquals(router.methodsOf("/v1/videos"), ["POST", "GET"]);
  assertEquals(router.methodsOf("/none"), []);
});

Deno.test("createRouter() refuses two routes of one shape and invalid paths", () => {
  assertThrows(() => routerOf("GET /a", "GET /a"), Error, "twice");
  assertThrows(() => routerOf("GET /a/:b", "GET /a/:c"), Error, "twice");
  assertThrows(() => routerOf("GET a"), Error, "from the root");
  assertThrows(() => routerOf("GET /:a*/b"), Error, ":a*");
  assertThrows(() => routerOf("GET /:a-b"), Error, ":a-b");
  routerOf("GET /a/:b", "POST /a/:c", "GET /a/:b/c");
});
