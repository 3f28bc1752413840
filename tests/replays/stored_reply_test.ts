import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { concatBytes } from "../../src/platform/lib/bytes/concat_bytes.ts";
import { openReplyCipher } from "../../src/services/replays/reply_secret.ts";
import { readReply, storeReply } from "../../src/services/replays/stored_reply.ts";
import { MIN_STORE_LIMITS } from "../../src/platform/store/store.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const HEAD = { status: 200, headers: [["content-type", "text/plain"]] } as const;

async function opened() {
  const store = await openMemoryStore({ clock: new ManualClock() });
  return { store, cipher: await openReplyCipher(store) };
}

Deno.test("a reply of any chunks is read as it was stored", async () => {
  const parts = await opened();
  const sizes = fc.array(fc.nat(200_000), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const body = lengths.map((length, n) => new Uint8Array(length).fill(n + 1));
      const read = await readReply("demo", await storeReply("demo", HEAD, body, parts), parts);
      assert(read !== null);
      assertEquals(read.head, HEAD as unknown);
      assertEquals(await new Response(read.body).bytes(), concatBytes(body));
    }),
    { numRuns: 20 },
  );
});

Deno.test("every part fits into any store, and none is readable", async () => {
  const { store, cipher } = await opened();
  await storeReply("demo", HEAD, [new TextEncoder().encode("marmalade ".repeat(20_000))], { store, cipher });
  const entries = await store.scan<Uint8Array>(["replays", "part"], { limit: 100 });
  assert(entries.length > 3);
  for (const { value } of entries) {
    assert(value.length <= MIN_STORE_LIMITS.maxValueBytes);
    assert(!new TextDecoder().decode(value).includes("marmalade"));
  }
});

Deno.test("processes of one store share its secret, and another store cannot read the reply", async () => {
  const one = await opened();
  const reply = await storeReply("demo", HEAD, [], one);
  const other = await opened();
  assert(await readReply("demo", reply, { ...one, cipher: await openReplyCipher(one.store) }) !== null);
  assertEquals(await readReply("demo", reply, { ...one, cipher: other.cipher }), null);
  assertEquals(await readReply("acme", reply, one), null);
});

Deno.test("a part that is exchanged for another one is not returned", async () => {
  const { store, cipher } = await opened();
  const stored = [];
  for (const fill of [1, 2]) {
    stored.push(await storeReply("demo", HEAD, [new Uint8Array(10).fill(fill)], { store, cipher }));
  }
  const [first, second] = await store.scan(["replays", "part", "demo"], { limit: 10 });
  await store.commit(null, { set: [{ key: first!.key, value: second!.value }] });
  const read = await Promise.all(stored.map((reply) => readReply("demo", reply, { store, cipher })));
  assertEquals(read.filter((each) => each !== null).length, 1);
});
