import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { isValidSignature, signedUrl } from "../../src/platform/files/signed_url.ts";
import {
  ensureSigningKeys,
  openSigningKeys,
  rotateSigningKeys,
} from "../../src/services/videos/results/signing_keys.ts";
import { atLeast, itemAt } from "../support/items.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { storeMember } from "../support/store_member.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const keys = [{ id: "one", secret: new Uint8Array(32).fill(1) }];
const name = "01a1fd8a-12ee-7000-aa93-f3f1a2d53021-0.mp4";
const queryOf = (url: string) => url.slice(url.indexOf("?") + 1);
const query = queryOf(signedUrl("https://gateway.example", name, NOW + DAY, keys));

Deno.test("a signed URL opens its own file until it expires", () => {
  assert(isValidSignature(name, query, NOW, keys));
  assert(isValidSignature(name, query, NOW + DAY - 1, keys));
  assert(!isValidSignature(name, query, NOW + DAY, keys));
});

Deno.test("a signed URL with any one character changed opens nothing", () => {
  for (let at = 0; at < query.length; at++) {
    for (const sign of "A1b-&=") {
      if (query[at] === sign) continue;
      assert(!isValidSignature(name, query.slice(0, at) + sign + query.slice(at + 1), NOW, keys), `${at} ${sign}`);
    }
  }
  assert(!isValidSignature(name.replace("-0.", "-1."), query, NOW, keys));
});

Deno.test("a signed URL has both parameters once, and no others", () => {
  const [expires, signature] = atLeast(query.split("&"), 2);
  assert(isValidSignature(name, `${signature}&${expires}`, NOW, keys));
  for (
    const bad of ["", expires, signature, `${query}&${expires}`, `${query}&a=b`, `${expires}&${expires}&${signature}`]
  ) {
    assert(!isValidSignature(name, bad, NOW, keys), bad);
  }
});

Deno.test("an expiry beyond seven days is refused, also when it is signed", () => {
  const signature = query.split("&")[1];
  for (const expires of ["NaN", "1e400", "-1", "0", "", "99999999999999999"]) {
    assert(!isValidSignature(name, `expires=${expires}&${signature}`, NOW, keys));
  }
  assert(!isValidSignature(name, queryOf(signedUrl("", name, NOW + 8 * DAY, keys)), NOW, keys));
});

Deno.test("the signing key is created once, and one rotation keeps the URLs of the previous key valid", async () => {
  const store = await openMemoryStore({ clock: systemClock });
  const [first, again] = await Promise.all([ensureSigningKeys(store), ensureSigningKeys(store)]);
  assertEquals(first, again);
  const old = queryOf(signedUrl("", name, NOW + DAY, first));
  const rotated = await rotateSigningKeys(store);
  assertNotEquals(rotated[0].id, itemAt(first, 0).id);
  assert(isValidSignature(name, old, NOW, rotated));
  assert(!isValidSignature(name, old, NOW, await rotateSigningKeys(store)));
  await store.close();
});

Deno.test("of two rotations at once the later one's keys are in force, also when the commit of the earlier one resolves last", async () => {
  const store = await openMemoryStore({ clock: systemClock });
  let isFirst = true;
  const slow: Store = new Proxy(store, {
    get: (target, name: keyof Store) => name === "commit" ? commitLate : storeMember(target, name),
  });
  async function commitLate(...given: Parameters<Store["commit"]>) {
    const result = await store.commit(...given);
    if (!isFirst) return result;
    isFirst = false;
    await new Promise((resolve) => setTimeout(resolve, 5));
    return result;
  }
  await ensureSigningKeys(store);
  const ring = await openSigningKeys(slow);
  await Promise.all([ring.rotate(), ring.rotate()]);
  assertEquals(ring.keys, await ensureSigningKeys(store));
  await store.close();
});
