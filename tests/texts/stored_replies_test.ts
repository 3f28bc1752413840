import { assert, assertEquals } from "@std/assert";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { StoredReplies } from "../../src/services/texts/memory/stored_replies.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const SIX_HOURS = 6 * 3_600_000;

async function twoProcesses() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  let reads = 0;
  const counted = {
    get: <T>(keys: Parameters<typeof store.get>[0]) => {
      reads++;
      return store.get<T>(keys);
    },
    scan: store.scan.bind(store),
    commit: store.commit.bind(store),
  };
  const replies = () => new StoredReplies<string>({ kind: "item", store: counted, clock, log: silentLog });
  return { clock, a: replies(), b: replies(), readsOf: () => reads };
}

Deno.test("what one process keeps of a reply is found by another after it was read", async () => {
  const { a, b } = await twoProcesses();
  a.put("acme item_1", "one", 3);
  a.put(`acme ${"long".repeat(500)}`, "two", 3);
  assertEquals(b.find("acme item_1"), null);
  await a.close();
  await b.load(["acme item_1", `acme ${"long".repeat(500)}`, "other item_1"]);
  assertEquals(b.find("acme item_1"), "one");
  assertEquals(b.find(`acme ${"long".repeat(500)}`), "two");
  assertEquals(b.find("other item_1"), null);
});

Deno.test("values are written a moment after the reply, also without an end of the process", async () => {
  const { a, b, clock } = await twoProcesses();
  a.put("acme item_1", "one", 3);
  clock.advance(50);
  await a.close();
  await b.load(["acme item_1"]);
  assertEquals(b.find("acme item_1"), "one");
});

Deno.test("stored values end after six hours", async () => {
  const { a, b, clock } = await twoProcesses();
  a.put("acme item_1", "one", 3);
  await a.close();
  clock.advance(SIX_HOURS);
  await b.load(["acme item_1"]);
  assertEquals(b.find("acme item_1"), null);
});

Deno.test("only what is neither in memory nor missed a moment ago is read", async () => {
  const { a, b, readsOf, clock } = await twoProcesses();
  a.put("acme item_1", "one", 3);
  assertEquals(a.load(["acme item_1"]), null);
  await a.close();
  await b.load(["acme item_1", "acme none"]);
  assertEquals(b.load(["acme item_1", "acme none"]), null);
  assertEquals(readsOf(), 1);
  clock.advance(60_000);
  await b.load(["acme none"]);
  assertEquals(readsOf(), 2);
});

Deno.test("a store that cannot be read leaves a value unfound", async () => {
  const clock = new ManualClock();
  const away = () => Promise.reject(new Error("the store is away"));
  const store = { get: away, scan: away, commit: away };
  const replies = new StoredReplies<string>({ kind: "item", store, clock, log: silentLog });
  replies.put("acme item_1", "one", 3);
  await replies.load(["acme item_2"]);
  await replies.close();
  assertEquals(replies.find("acme item_1"), "one");
  assertEquals(replies.find("acme item_2"), null);
});

Deno.test("the values of an account are removed from memory and store", async () => {
  const { a, b } = await twoProcesses();
  for (let n = 0; n < 600; n++) a.put(`acme item_${n}`, "one", 3);
  a.put("other item_1", "two", 3);
  await a.close();
  assertEquals(a.removeAccount("acme"), 600);
  await a.close();
  await b.load(["acme item_1", "acme item_599", "other item_1"]);
  assertEquals([b.find("acme item_1"), b.find("acme item_599"), b.find("other item_1")], [null, null, "two"]);
  assert(!a.isEmpty);
});
