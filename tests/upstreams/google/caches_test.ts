import { assertEquals, assertRejects } from "@std/assert";
import type { CacheUpstream } from "../../../src/vendors/upstreams/contract/cache_upstream.ts";
import { UpstreamFailure } from "../../../src/vendors/upstreams/call/failure.ts";
import { itemAt } from "../../support/items.ts";
import { type Seen, type VendorAnswer, withVendor } from "../vendor.ts";

const EXPIRES_AT = Date.parse("2026-03-01T12:30:00.000Z");
const CONTENT = { contents: [{ parts: [{ text: "The sky is blue" }] }], tools: [{ googleSearch: {} }] };
const CACHED = {
  name: "cachedContents/abc-123",
  model: "models/gemini-3-pro",
  displayName: "mark-1",
  expireTime: "2026-03-01T12:30:00.5Z",
  usageMetadata: { totalTokenCount: 4711 },
  addedTomorrow: true,
};
const ORDER = {
  mark: "mark-1",
  model: "gemini-3-pro",
  content: CONTENT,
  expiresAt: EXPIRES_AT,
  callerSignal: () => new AbortController().signal,
};
const GONE = {
  status: 403,
  body: { error: { code: 403, message: "CachedContent not found", status: "PERMISSION_DENIED" } },
};

function withCaches(
  answers: readonly VendorAnswer[],
  test: (caches: CacheUpstream, seen: readonly Seen[]) => Promise<void>,
): Promise<void> {
  return withVendor("google", answers, ({ capabilities: { caches } }, seen) => test(caches!, seen));
}

Deno.test("google caches: a creation sends model, mark, content and expiry, and reads name, tokens and expiry", async () => {
  await withCaches([{ body: CACHED }], async (caches, seen) => {
    const expiresAt = Date.parse(CACHED.expireTime);
    assertEquals(await caches.create(ORDER), { name: CACHED.name, tokens: 4711, expiresAt });
    const { method, path, json } = itemAt(seen, 0);
    assertEquals([method, path], ["POST", "/base/v1beta/cachedContents"]);
    assertEquals(json, {
      model: "models/gemini-3-pro",
      displayName: "mark-1",
      ...CONTENT,
      expireTime: "2026-03-01T12:30:00.000Z",
    });
  });
});

Deno.test("google caches: a refusal keeps the vendor's message, and a response without a cache is broken", async () => {
  const small = { error: { code: 400, message: "Cached content is too small", status: "INVALID_ARGUMENT" } };
  await withCaches([{ status: 400, body: small }], async (caches) => {
    const failure = await assertRejects(() => caches.create(ORDER), UpstreamFailure, "Cached content is too small");
    assertEquals([failure.kind, failure.facts.accepted], ["invalid", "no"]);
  });
  const wrong = [
    {},
    { ...CACHED, name: "../models/x" },
    "<html>",
  ];
  for (const body of wrong) {
    await withCaches([{ body }], async (caches) => {
      const failure = await assertRejects(() => caches.create(ORDER), UpstreamFailure);
      assertEquals([failure.kind, failure.facts.accepted], ["broken", "unknown"]);
    });
  }
});

Deno.test("google caches: an unreadable token count is zero", async () => {
  for (const totalTokenCount of [-1, 0.5, "7", null]) {
    await withCaches([{ body: { ...CACHED, usageMetadata: { totalTokenCount } } }], async (caches) => {
      assertEquals((await caches.create(ORDER)).tokens, 0);
    });
  }
});

Deno.test("google caches: extend() changes only the expiry, and returns false for a missing cache", async () => {
  await withCaches([{ body: CACHED }, GONE], async (caches, seen) => {
    assertEquals(await caches.extend(CACHED.name, EXPIRES_AT), true);
    assertEquals([seen[0]?.method, seen[0]?.path], ["PATCH", `/base/v1beta/${CACHED.name}?updateMask=expireTime`]);
    assertEquals(seen[0]?.json, { expireTime: "2026-03-01T12:30:00.000Z" });
    assertEquals(await caches.extend(CACHED.name, EXPIRES_AT), false);
  });
});

Deno.test("google caches: remove() deletes a cache, and succeeds for a missing one", async () => {
  await withCaches([{ body: {} }, GONE, { status: 404, body: {} }, { status: 503, body: {} }], async (caches, seen) => {
    await caches.remove(CACHED.name);
    assertEquals([seen[0]?.method, seen[0]?.path, seen[0]?.bytes.length], ["DELETE", `/base/v1beta/${CACHED.name}`, 0]);
    await caches.remove(CACHED.name);
    await caches.remove(CACHED.name);
    await assertRejects(() => caches.remove(CACHED.name), UpstreamFailure);
  });
});

Deno.test("google caches: find() reads all pages for caches with a mark", async () => {
  const other = { ...CACHED, name: "cachedContents/other", displayName: undefined };
  const pages = [{ body: { cachedContents: [other, CACHED], nextPageToken: "a/b" } }, { body: {} }];
  await withCaches(pages, async (caches, seen) => {
    assertEquals(await caches.find("mark-1"), [CACHED.name]);
    assertEquals(seen.map(({ path }) => path), [
      "/base/v1beta/cachedContents?pageSize=1000",
      "/base/v1beta/cachedContents?pageSize=1000&pageToken=a%2Fb",
    ]);
  });
});
