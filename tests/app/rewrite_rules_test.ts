import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { REWRITE_RULES } from "../../src/entry/app/routing/rewrite_rules.ts";
import { createPathRewriter } from "../../src/entry/app/routing/path_rewriter.ts";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import { type Endpoint, pathsOf } from "../../src/platform/endpoints/endpoint.ts";

const NONE = new Headers();
const rewritePath = createPathRewriter(REWRITE_RULES);

/** Paths of the three protocols, the admin API and the files. */
const OWN = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/images/generations",
  "/v1/images/edits",
  "/v1/embeddings",
  "/v1/videos",
  "/v1/videos/v/content",
  "/v1/models",
  "/v1/models/p",
  "/v1/models/p/m",
  "/msgcompat/v1/messages",
  "/msgcompat/v1/messages/count_tokens",
  "/msgcompat/v1/models/p/m",
  "/gencompat/v1beta/models/p/m:generateContent",
  "/gencompat/v1beta/p/m:streamGenerateContent",
  "/gencompat/v1/p%2Fm:countTokens",
  "/gencompat/v1beta/models/p/m:embedContent",
  "/gencompat/v1beta/cachedContents/c",
  "/gencompat/v1/cachedContents",
  "/admin/v1/accounts",
  "/files/f",
  "/healthz",
  "/readyz",
  "/",
  "",
];

Deno.test("rewrite rules leave correct paths as they are", () => {
  for (const path of OWN) assertEquals(rewritePath(path, NONE), path);
});

Deno.test("rewrite rules correct a path, also with several mistakes", () => {
  const cases: [string, string][] = [
    ["/v1/v1/v1/chat/completions", "/v1/chat/completions"],
    ["//v1//v1/responses", "/v1/responses"],
    ["/openai/v1//chat/completions", "/v1/chat/completions"],
    ["/api/v1/messages", "/msgcompat/v1/messages"],
    ["/anthropic/messages", "/msgcompat/v1/messages"],
    ["/anthropic/v1/messages/count_tokens", "/msgcompat/v1/messages/count_tokens"],
    ["/gemini/models/p/m:generateContent", "/gencompat/v1beta/models/p/m:generateContent"],
    ["/v1/p%2Fm:generateContent", "/gencompat/v1/p%2Fm:generateContent"],
    ["/gencompat/v1beta//models/p/m", "/gencompat/v1beta/models/p/m"],
    ["/v1beta/openai/chat/completions", "/v1/chat/completions"],
    ["/models/p/m", "/v1/models/p/m"],
  ];
  for (const [sent, address] of cases) assertEquals([sent, rewritePath(sent, NONE)], [sent, address]);
});

Deno.test("rewrite rules match whole segments, byte for byte", () => {
  const paths = [
    "/v1beta2/x",
    "/responsesx",
    "/modelsx",
    "/messages2",
    "/V1/v1",
    "/%761/v1/x",
    "/v1%2Fv1/x",
    "/openaix/v1",
  ];
  for (const path of paths) assertEquals(rewritePath(path, NONE), path);
});

Deno.test("each rewrite rule applies to a path that no earlier rule matches", () => {
  const headers = new Headers({ "anthropic-version": "2023-06-01" });
  const google = new Headers({ "x-goog-api-key": "k" });
  for (const [at, { from, to, endings, matchesHeaders }] of REWRITE_RULES.entries()) {
    const path = from + (endings || matchesHeaders ? "/p/m" : "") + (endings?.[0] ?? "");
    const sender = [NONE, headers, google].find((each) => matchesHeaders?.(each) ?? true)!;
    const fits = (row: typeof REWRITE_RULES[number]) =>
      (path === row.from || path.startsWith(`${row.from}/`)) &&
      (row.endings?.some((ending) => path.endsWith(ending)) ?? true) && (row.matchesHeaders?.(sender) ?? true);
    assertEquals(REWRITE_RULES.findIndex(fits), at, `${from} to ${to}`);
  }
});

Deno.test("rewrite rules leave a path or lead into one of the three protocols", () => {
  const pieces = [
    ...[
      "v1",
      "v1beta",
      "v1alpha",
      "msgcompat",
      "gencompat",
      "openai",
      "anthropic",
      "gemini",
      "api",
      "models",
      "messages",
    ],
    ...["admin", "files", "healthz", "..", ".", "", "%2e%2e", "%2f", "chat", "completions", "m:generateContent"],
  ];
  const headers = fc.constantFrom(
    NONE,
    new Headers({ "anthropic-version": "2023-06-01" }),
    new Headers({ "x-goog-api-key": "k" }),
  );
  const path = fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((segments) => `/${segments.join("/")}`);
  fc.assert(
    fc.property(path, headers, (sent, headers) => {
      const address = rewritePath(sent, headers);
      if (address === sent) return;
      assert(/^\/(?:v1|msgcompat|gencompat)(?:\/|$)/.test(address), `${sent} became ${address}`);
      assert(!/^\/(?:v1|msgcompat|gencompat|admin|files|healthz|readyz)$/.test(sent) || address === sent);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("createPathRewriter() looks known paths up first, unless a rule matches them", () => {
  let calls = 0;
  const rows = [
    { from: "/v1/models", to: "/x", matchesHeaders: () => calls++ < 0 },
    { from: "/v1", to: "/y", endings: [":go"], matchesHeaders: () => calls++ < 0 },
  ];
  const rewrite = createPathRewriter(rows, ["/v1/chat", "/v1/models"]);
  for (const [path, times] of [["/v1/chat", 0], ["/v1/models", 1], ["/v1/m:go", 2]] as const) {
    assertEquals([rewrite(path, NONE), calls], [path, times]);
  }
});

Deno.test("rewrite rules: no address of an endpoint leads to another endpoint", () => {
  const rewrite = createPathRewriter(REWRITE_RULES);
  for (const path of Object.values<Endpoint>(CALLER_ENDPOINTS).flatMap(pathsOf)) {
    assertEquals(rewrite(path, new Headers()), path);
  }
});
