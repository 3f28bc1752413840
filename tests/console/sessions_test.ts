import { assert, assertEquals, assertRejects } from "@std/assert";
import { serialize } from "node:v8";
import { ConsoleSessions } from "../../src/console/sessions.ts";
import type { StoredSession } from "../../src/console/records.ts";
import { readSessionCookie, writeSessionCookie } from "../../src/console/session_cookie.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const MINUTE_MS = 60_000;
const SIGN_IN = { key: "key-of-the-owner", isOperator: true };

/** Two processes that use one store. */
async function openTwo() {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  const open = (own: Pick<Store, "get" | "commit" | "now"> = store) =>
    new ConsoleSessions({ store: own, clock, log: silentLog });
  return { clock, store, one: open(), other: open(), open };
}

/** All sessions in a store. */
async function storedIn(store: Store) {
  return await store.scan<StoredSession>(["console"], { limit: 100 });
}

Deno.test("ConsoleSessions: a further session of a key ends its own oldest one, and none of another key", async () => {
  const { one: sessions } = await openTwo();
  const other = (await sessions.start({ key: "other", isOperator: true })).token;
  const tokens: string[] = [];
  for (let count = 0; count < 21; count++) {
    tokens.push((await sessions.start({ key: "one", isOperator: false })).token);
  }
  const found = await Promise.all(tokens.map(async (token) => await sessions.find(token) !== null));
  assertEquals(found, [false, ...Array(20).fill(true)]);
  assertEquals((await sessions.find(other))?.key, "other");
});

Deno.test("ConsoleSessions: sessions are limited in number, and those that have ended make place", async () => {
  const { clock, one: sessions } = await openTwo();
  for (let count = 0; count < 10_000; count++) await sessions.start({ key: String(count), isOperator: false });
  await assertRejects(() => sessions.start({ key: "last", isOperator: false }), GatewayError, "too many sessions");
  clock.advance(30 * MINUTE_MS);
  await sessions.start({ key: "last", isOperator: false });
});

Deno.test("ConsoleSessions: another process on the store finds a session, with the same token for changes", async () => {
  const { one, other } = await openTwo();
  const { session, token } = await one.start(SIGN_IN);
  assertEquals(await other.find(token), session);
  assertEquals(await other.find(token.split("").reverse().join("")), null);
});

Deno.test("ConsoleSessions: a session that one process ends has ended at the other, and so have its streams", async () => {
  const { one, other, store } = await openTwo();
  const { token } = await one.start(SIGN_IN);
  let ends = 0;
  await other.find(token);
  other.onEnd(token, () => ends++);
  await one.end(token);
  assertEquals([await one.find(token), await storedIn(store), ends], [null, [], 0]);
  assertEquals([await other.find(token), ends], [null, 1]);
});

Deno.test("ConsoleSessions: a use at one process counts at another one, and nobody's session ends after 30 minutes", async () => {
  const { clock, one, other, open } = await openTwo();
  const { token } = await one.start(SIGN_IN);
  for (const each of [other, one, other, one]) {
    clock.advance(20 * MINUTE_MS);
    assert(await each.find(token) !== null);
  }
  clock.advance(30 * MINUTE_MS - 1);
  assert(await open().find(token) !== null);
  clock.advance(30 * MINUTE_MS);
  for (const each of [one, other, open()]) assertEquals(await each.find(token), null);
});

Deno.test("ConsoleSessions: the last use counts to the millisecond, though uses are stored once a minute", async () => {
  const { clock, one } = await openTwo();
  const { token } = await one.start(SIGN_IN);
  clock.advance(MINUTE_MS - 1);
  await one.find(token);
  clock.advance(30 * MINUTE_MS - 1);
  assert(await one.find(token) !== null);
});

Deno.test("ConsoleSessions: the store has neither the key nor the token, and an entry opens only in its place", async () => {
  const { store, one, other } = await openTwo();
  const { session, token } = await one.start(SIGN_IN);
  const { token: second } = await one.start({ ...SIGN_IN, key: "second-key" });
  const [first, last] = await storedIn(store);
  assert(first !== undefined && last !== undefined);
  const text = serialize([first.key, first.value, last.key, last.value]).toString("latin1");
  for (const secret of [SIGN_IN.key, "second-key", token, second, session.csrfToken]) assert(!text.includes(secret));
  // Whoever can write to the store cannot move a session to a token that they know.
  await store.commit(null, { set: [{ key: first.key, value: last.value }, { key: last.key, value: first.value }] });
  assertEquals([await other.find(token), await other.find(second)], [null, null]);
  const broken = Uint8Array.from(first.value.encrypted, (byte, place) => place === 40 ? byte ^ 1 : byte);
  await store.commit(null, {
    set: [first, last].map(({ key, value }) => ({ key, value: { ...value, encrypted: broken } })),
  });
  assertEquals([await other.find(token), await other.find(second)], [null, null]);
});

Deno.test("ConsoleSessions: a use that is stored while the session ends does not bring it back", async () => {
  const { clock, store, one, open } = await openTwo();
  const { token } = await one.start(SIGN_IN);
  clock.advance(2 * MINUTE_MS);
  const late = open({
    now: () => store.now(),
    get: (keys) => store.get(keys),
    async commit(name, changes) {
      if (changes.set !== undefined) await one.end(token);
      return await store.commit(name, changes);
    },
  });
  await late.find(token);
  assertEquals([await one.find(token), await late.find(token), await storedIn(store)], [null, null, []]);
});

Deno.test("ConsoleSessions: without a store that can be written, a session lasts until the end of the process", async () => {
  const { store, open } = await openTwo();
  const full = {
    now: () => store.now(),
    get: (keys: Parameters<Store["get"]>[0]) => store.get<never>(keys),
    commit: () => Promise.reject(new Error("the disk is full")),
  };
  const [one, other] = [open(full), open(full)];
  const { session, token } = await one.start(SIGN_IN);
  assertEquals([await one.find(token), await other.find(token)], [session, null]);
  await one.drop(token);
  assertEquals(await one.find(token), null);
});

Deno.test("ConsoleSessions: while the store cannot be read, known sessions go on, and others fail", async () => {
  const { store, one, open } = await openTwo();
  const { token } = await one.start(SIGN_IN);
  let isAway = false;
  const away = open({
    now: () => store.now(),
    get: (keys) => isAway ? Promise.reject(new Error("no connection")) : store.get(keys),
    commit: (name, changes) => store.commit(name, changes),
  });
  const { token: own } = await away.start(SIGN_IN);
  isAway = true;
  assertEquals((await away.find(own))?.key, SIGN_IN.key);
  await assertRejects(() => away.find(token), Error, "no connection");
});

Deno.test("session cookie: it is read among others, by either name", () => {
  const token = "a".repeat(43);
  for (const isSecure of [true, false]) {
    const [pair = ""] = writeSessionCookie(token, isSecure).split(";");
    assertEquals(readSessionCookie(`theme=dark; ${pair}; x=y`), token);
  }
  assertEquals(readSessionCookie(null), null);
  assertEquals(readSessionCookie("switchyard_console=short"), null);
  assertEquals(readSessionCookie(`switchyard_console=${"b".repeat(43)}; __Secure-switchyard_console=${token}`), token);
});
