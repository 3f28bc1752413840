import { assertEquals } from "@std/assert";
import { CacheHits, readCacheUses } from "../../src/services/caches/cache_hits.ts";
import { cacheHitsKey, dropCache, readCacheEntry } from "../../src/services/caches/records.ts";
import { RequestRecord } from "../../src/platform/http/request/request_record.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { manualClock, observeStore } from "../billing/support.ts";
import { openMemoryStore } from "../support/memory_store.ts";

async function stage(caches: number) {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  const ids = Array.from({ length: caches }, (_, nth) => `cache-${nth}`);
  for (const id of ids) {
    await store.commit(null, { set: [{ key: ["cache", "content", id], value: { id, keyId: "k" } }] });
  }
  const hitsOver = (over: Store) => new CacheHits({ store: over, clock, log: silentLog });
  return { clock, store, ids, hitsOver };
}

Deno.test("hits are written ten seconds after the first one, for any number of caches", async () => {
  const { clock, store, ids, hitsOver } = await stage(60);
  const watched = observeStore(store);
  const hits = hitsOver(watched);
  for (let round = 0; round < 3; round++) for (const id of ids) hits.count(id);
  assertEquals((await readCacheUses(store, ids)).every((use) => use.hits === 0), true);
  const at = clock.now();
  clock.advance(10_000);
  await hits.flush();
  assertEquals(await readCacheUses(store, ids), ids.map(() => ({ hits: 3, lastHitAt: at })));
  assertEquals(watched.commits.length, 3);
});

Deno.test("hits that two gateways write at once are all counted", async () => {
  const { store, ids, hitsOver } = await stage(2);
  const watched = observeStore(store);
  const [one, other] = [hitsOver(watched), hitsOver(store)];
  for (const id of ids) {
    one.count(id);
    other.count(id);
  }
  let isFirst = true;
  watched.beforeCommit = async () => {
    if (isFirst) await other.flush();
    isFirst = false;
  };
  await one.flush();
  assertEquals((await readCacheUses(store, ids)).map((use) => use.hits), [2, 2]);
});

Deno.test("hits wait while the store takes no writes", async () => {
  const { store, ids, hitsOver } = await stage(1);
  const watched = observeStore(store);
  const hits = hitsOver(watched);
  hits.count("cache-0");
  watched.beforeCommit = () => {
    throw new Error("The disk is full");
  };
  await hits.flush();
  watched.beforeCommit = () => {};
  hits.count("cache-0");
  await hits.flush();
  assertEquals((await readCacheUses(store, ids)).map((use) => use.hits), [2]);
});

Deno.test("a removed cache leaves no hits, and later hits are not written", async () => {
  const { store, hitsOver } = await stage(2);
  const hits = hitsOver(store);
  hits.count("cache-0");
  hits.count("cache-1");
  await hits.flush();
  await store.commit(null, dropCache({}, (await readCacheEntry(store, "cache-0"))!));
  hits.count("cache-0");
  await hits.flush();
  const left = await store.scan(["cache", "hits"], { limit: 9 });
  assertEquals(left.map(({ key }) => key), [cacheHitsKey("cache-1")]);
});

Deno.test("the facts that threads send name the cache, and nothing without one", () => {
  const record = new RequestRecord({ requestId: "r", receivedAt: 0, method: "", sentPath: "", path: "", remote: "" });
  assertEquals("cacheId" in record.facts(), false);
  record.cacheId = "cache-0";
  assertEquals(record.facts().cacheId, "cache-0");
});
