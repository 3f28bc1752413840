import { assert, assertEquals } from "@std/assert";
import { encodeKey } from "../../../src/platform/store/key_encoding.ts";
import { jobKey, valueKey } from "../../../src/platform/store/kv/keys.ts";
import { ValueCache } from "../../../src/platform/store/kv/value_cache.ts";
import type { Key } from "../../../src/platform/store/store.ts";

const KEY = valueKey(["v"]);
const ID = encodeKey(KEY);
const slot = (value: unknown) => ({ value: [value], version: "1" });

function readInto(cache: ValueCache, between: () => void): void {
  const reading = cache.beginRead([ID]);
  between();
  cache.endRead(reading, [KEY], [slot("read")]);
}

Deno.test("a value that a reader brings is cached", () => {
  const cache = new ValueCache();
  readInto(cache, () => {});
  assertEquals(cache.get(ID), slot("read"));
});

Deno.test("a value that a reader brings is not cached if its key was written meanwhile", () => {
  const cache = new ValueCache();
  readInto(cache, () => {
    cache.beginWrite([ID]);
    cache.put(ID, KEY, slot("written"));
    cache.endWrite();
  });
  assertEquals(cache.get(ID), slot("written"));
});

Deno.test("a value that a reader brings is not cached if its key was being written when the read began", () => {
  const cache = new ValueCache();
  cache.beginWrite([ID]);
  readInto(cache, () => cache.endWrite());
  assertEquals(cache.get(ID), undefined);
});

Deno.test("a value that a reader brings is cached although other keys were written", () => {
  const cache = new ValueCache();
  readInto(cache, () => cache.beginWrite([encodeKey(valueKey(["other"]))]));
  assertEquals(cache.get(ID), slot("read"));
});

Deno.test("of two reads of a key the later one is cached", () => {
  const cache = new ValueCache();
  const first = cache.beginRead([ID]);
  const second = cache.beginRead([ID]);
  cache.endRead(first, [KEY], [slot("first")]);
  assertEquals(cache.get(ID), undefined);
  cache.endRead(second, [KEY], [slot("second")]);
  assertEquals(cache.get(ID), slot("second"));
});

Deno.test("a failed read caches nothing", () => {
  const cache = new ValueCache();
  cache.endRead(cache.beginRead([ID]), [KEY], []);
  assertEquals(cache.get(ID), undefined);
});

Deno.test("a value is not cached while it is written", () => {
  const cache = new ValueCache();
  cache.put(ID, KEY, slot("old"));
  cache.beginWrite([ID]);
  assertEquals(cache.get(ID), undefined);
});

Deno.test("large values and other areas of the database are not cached", () => {
  const cache = new ValueCache();
  const kept = (key: Key, value: unknown) => {
    cache.put(encodeKey(key), key, slot(value));
    return cache.get(encodeKey(key)) !== undefined;
  };
  assertEquals(kept(valueKey(["small"]), new Uint8Array(4_000)), true);
  assertEquals(kept(valueKey(["large"]), new Uint8Array(4_200)), false);
  assertEquals(kept(jobKey("kind", "ref"), "job"), true);
  assertEquals(kept(["operation", "name"], 1), false);
});

Deno.test("the least recently used values are evicted at 32 MB", () => {
  const cache = new ValueCache();
  const key = (n: number) => valueKey(["n", n]);
  const put = (n: number) => cache.put(encodeKey(key(n)), key(n), slot(new Uint8Array(4_000)));
  const isKept = (n: number) => cache.get(encodeKey(key(n))) !== undefined;
  for (let n = 0; n < 14_000; n++) put(n);
  const kept = Array.from({ length: 14_000 }, (_, n) => n).filter(isKept);
  assertEquals(kept[0], 14_000 - kept.length);
  assert(kept.length > 7_500 && kept.length < 8_389, `${kept.length} values of 4 KB are kept`);
});

Deno.test("the most recently read value is evicted last", () => {
  const cache = new ValueCache();
  const put = (n: number) => cache.put(`id${n}`, KEY, slot(new Uint8Array(4_000)));
  for (let n = 0; n < 7_500; n++) put(n);
  cache.get("id0");
  for (let n = 7_500; n < 8_500; n++) put(n);
  assertEquals(["id0", "id1"].map((id) => cache.get(id) !== undefined), [true, false]);
});
