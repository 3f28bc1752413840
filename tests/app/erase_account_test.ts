import { assert, assertEquals, assertRejects } from "@std/assert";
import { eraseAccount, type EraseAccountParts } from "../../src/entry/app/operators/erase_account.ts";
import { AuditLog } from "../../src/observers/audit/audit_log.ts";
import { createAccount, readAccount } from "../../src/money/billing/accounts/account.ts";
import { issueKey } from "../../src/money/billing/keys/issued_key.ts";
import { mergeCommits } from "../../src/money/billing/accounts/records.ts";
import { type CachedContent, cacheFileOf } from "../../src/services/caches/cached_content.ts";
import { addCache, endCache, readCacheEntry } from "../../src/services/caches/records.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { FileStore } from "../../src/platform/files/files.ts";
import { changedStore } from "../../src/platform/store/changed_store.ts";
import type { Commit, Store } from "../../src/platform/store/store.ts";
import { addIdempotency, addTask, changeTask, readTask } from "../../src/services/videos/tasks/records.ts";
import { newDelivery } from "../../src/services/webhooks/delivery.ts";
import { addToFeed, scanFeed } from "../../src/services/webhooks/feed_records.ts";
import { addDelivery } from "../../src/services/webhooks/records.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { openMemoryStore } from "../support/memory_store.ts";
import { taskOf } from "../videos/tasks.ts";
import { storeTimeOf } from "../../src/platform/store/store_time.ts";

const MARK = "quokka-7f3a91";

/** A folder in memory. */
function filesOf(...names: string[]): { readonly names: Set<string>; readonly files: FileStore } {
  const kept = new Set(names);
  const unused = () => Promise.reject(new Error("An erasure only removes files"));
  const remove = (name: string) => Promise.resolve(void kept.delete(name));
  return { names: kept, files: { write: unused, find: unused, removeLeftovers: unused, remove } };
}

function cacheOf(n: number, account: string, over: Partial<CachedContent> = {}): CachedContent {
  return {
    id: String(n).padStart(28, "0"),
    account,
    keyId: "key",
    model: "one/model",
    modelName: MARK,
    displayName: MARK,
    state: "ready",
    home: { kind: "native", provider: "google", upstreamName: "cachedContents/vendor" },
    createdAt: 1,
    updatedAt: 1,
    expiresAt: 1_000_000,
    tokens: 1,
    countedBy: null,
    revision: 0,
    ...over,
  };
}

/** A store with two customers that have something of every kind, and `tasks` ended tasks each. */
async function customers(tasks: number) {
  const store = await openMemoryStore({ clock: new ManualClock() });
  const audit = new AuditLog(store, 86_400_000);
  const emulated = { kind: "emulated", provider: "openai", headBytes: 1 } as const;
  let n = 1;
  for (const id of ["acme", "other"]) {
    await createAccount(store, { id, webhookSecret: MARK, settings: { name: MARK }, allowBuckets: [`gs://${MARK}/`] });
    const { key } = await issueKey(store, id, { name: MARK, metadata: { customer: MARK } });
    for (let i = 0; i < tasks; i++, n++) {
      const inputs = [`input-${n}.png`];
      const task = taskOf(n, { account: id, keyId: key.id, prompt: MARK, metadata: { customer: MARK }, inputs });
      const idempotency = { bodyHash: "hash", taskId: task.id };
      await store.commit(
        null,
        addIdempotency(addTask({}, task, store.now()), key.id, `${MARK}-${n}`, idempotency, 1_000_000),
      );
      const ended = {
        taskId: task.id,
        account: id,
        status: "completed",
        callbackUrl: MARK,
        endedAt: storeTimeOf(2),
        task,
      } as const;
      const entry = await readTask(store, task.id);
      assert(entry !== null);
      const commit = changeTask({}, entry, { status: "completed" });
      await store.commit(
        null,
        addDelivery(
          commit,
          newDelivery({ ...ended, id: ended.taskId, url: MARK, createdAt: ended.endedAt }),
          new TextEncoder().encode(MARK),
        ),
      );
    }
    for (const over of [{}, { home: emulated }]) await store.commit(null, addCache({}, cacheOf(n++, id, over), 1));
    const ended = cacheOf(n++, id);
    await store.commit(null, addCache({}, ended, 1));
    const entry = await readCacheEntry(store, ended.id);
    assert(entry !== null);
    await store.commit(null, endCache({}, entry, store.now()));
    const actor = { name: "ci", address: null };
    const path = `/admin/v1/accounts/${id}`;
    const intent = { actor, requestId: null, method: "PATCH", path, account: id, before: { name: null } };
    await (await audit.begin(intent)).done({ name: MARK });
  }
  return { store, audit };
}

function partsOf(store: Store, own: Partial<EraseAccountParts> = {}): EraseAccountParts {
  return {
    store,
    keys: { evictAccount() {} },
    meter: { openCalls: () => 0, settle() {}, recall() {}, invalidate() {} },
    files: { results: filesOf().files, caches: filesOf().files },
    requestLog: null,
    audit: new AuditLog(store, 86_400_000),
    forgetReplies: () => 0,
    others: null,
    ...own,
  };
}

/** Every key and value that has the mark, and whether it is of another account. */
async function marked(store: Store): Promise<string[]> {
  const found: string[] = [];
  for (const area of ["billing", "video", "webhook", "cache", "audit"]) {
    for (const { key, value } of await store.scan([area], { limit: 100_000 })) {
      const shown = Deno.inspect([key, withText(value)], { depth: 20, strAbbreviateSize: 1e6, iterableLimit: 1e6 });
      if (shown.includes(MARK)) found.push(key.join("/"));
    }
  }
  return found.sort();
}

function withText(value: unknown): unknown {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withText(item)]));
}

Deno.test("an erasure that ends at any commit is finished by the next one, and leaves other accounts", async () => {
  const { store: untouched } = await customers(0);
  assert((await marked(untouched)).length > 8);
  for (let last = 0, isWhole = false; !isWhole; last++) {
    const { store } = await customers(2);
    const before = await marked(store);
    let commits = 0;
    const dying = changedStore(store, {
      commit(operation, commit) {
        return commits++ < last ? store.commit(operation, commit) : Promise.reject(new Error("killed"));
      },
    });
    isWhole = await eraseAccount(partsOf(dying), "acme").then(() => true, () => false);
    if (last > 0) assert((await readAccount(store, "acme")).suspendedAt !== null);
    await eraseAccount(partsOf(store), "acme");
    const left = await marked(store);
    assertEquals(left.length, before.length / 2, `after ${last} commits`);
    assert(left.every((key) => before.includes(key)));
    const { erasure, suspendedAt } = await readAccount(store, "acme");
    assert(erasure?.endedAt !== null && erasure?.endedAt !== undefined && suspendedAt !== null);
    assertEquals((await readAccount(store, "other")).erasure, undefined);
  }
});

Deno.test("an erasure waits until other gateways refuse the keys, and is refused while they have calls", async () => {
  const { store } = await customers(0);
  let leased = 5n;
  let waits = 0;
  const others = {
    leasedOf: () => Promise.resolve(leased),
    untilKeysRefused: () => Promise.resolve(void waits++),
  };
  await assertRejects(() => eraseAccount(partsOf(store, { others }), "acme"), GatewayError, "another gateway");
  assertEquals((await readAccount(store, "acme")).suspendedAt, null);
  leased = 0n;
  const begun = { ...others, untilKeysRefused: () => Promise.resolve(void (leased = 1n)) };
  await assertRejects(() => eraseAccount(partsOf(store, { others: begun }), "acme"), Error, "another gateway");
  assert((await readAccount(store, "acme")).suspendedAt !== null);
  leased = 0n;
  await eraseAccount(partsOf(store, { others }), "acme");
  assertEquals(waits, 1);
});

Deno.test("an erasure of many tasks has small commits", async () => {
  const { store } = await customers(250);
  let largest = 0;
  const size = ({ set = [], delete: removed = [] }: Commit) => set.length + removed.length;
  const measured = changedStore(store, {
    commit(operation, commit) {
      largest = Math.max(largest, size(commit));
      return store.commit(operation, commit);
    },
  });
  const { tasks, deliveries, idempotencyKeys, cachedContents } = await eraseAccount(partsOf(measured), "acme");
  assertEquals([tasks, deliveries, idempotencyKeys, cachedContents], [250, 250, 250, 3]);
  assert(largest <= 100);
});

Deno.test("an erasure removes files of tasks and of cached contents", async () => {
  const { store } = await customers(1);
  const results = filesOf("input-1.png", "input-5.png");
  const caches = filesOf(cacheFileOf(String(3).padStart(28, "0")), "unrelated.cache");
  const { files } = await eraseAccount(
    partsOf(store, { files: { results: results.files, caches: caches.files } }),
    "acme",
  );
  assertEquals([files, [...results.names], [...caches.names]], [1, ["input-5.png"], ["unrelated.cache"]]);
});

Deno.test("an erasure waits for requests under way, and says so if they began before the suspension", async () => {
  const { store } = await customers(0);
  const meterWith = (...open: number[]) => ({
    openCalls: () => open.shift() ?? 0,
    settle() {},
    recall() {},
    invalidate() {},
  });
  const refused = await assertRejects(() => eraseAccount(partsOf(store, { meter: meterWith(2) }), "acme"), Error);
  assertEquals(
    refused.message,
    "Cannot erase the account: it has requests under way (2); wait for their end, and repeat",
  );
  assertEquals((await readAccount(store, "acme")).suspendedAt, null);
  const unfinished = await assertRejects(() => eraseAccount(partsOf(store, { meter: meterWith(0, 1) }), "acme"), Error);
  assert(
    unfinished.message.startsWith("The account is suspended and its keys are revoked, but not all is erased: it has"),
  );
  assert((await readAccount(store, "acme")).suspendedAt !== null);
  await eraseAccount(partsOf(store), "acme");
});

Deno.test("a task that is created between the checks stops an erasure, and a repeat finishes it", async () => {
  const { store } = await customers(0);
  const late = taskOf(900, { account: "acme" });
  let isAdded = false;
  const racing = changedStore(store, {
    async commit(operation, commit) {
      if (!isAdded) await store.commit(null, mergeCommits({}, addTask({}, late, store.now())));
      isAdded = true;
      return await store.commit(operation, commit);
    },
  });
  await assertRejects(() => eraseAccount(partsOf(racing), "acme"), Error, "it has pending video tasks (1)");
  const entry = await readTask(store, late.id);
  assert(entry !== null);
  await store.commit(null, changeTask({}, entry, { status: "cancelled" }));
  assertEquals((await eraseAccount(partsOf(store), "acme")).tasks, 1);
});

Deno.test("an erasure removes the events of the account from the feed, with long bodies", async () => {
  const { store } = await customers(0);
  for (const [at, account] of ["acme", "other"].entries()) {
    const taskId = `task-${account}`;
    const ended = {
      taskId,
      account,
      status: "completed",
      callbackUrl: null,
      endedAt: storeTimeOf(1),
      task: {},
    } as const;
    await store.commit(null, addToFeed({}, at + 1, ended, new TextEncoder().encode(account.repeat(40_000))));
  }
  await eraseAccount(partsOf(store), "acme");
  assertEquals((await scanFeed(store, 0, 10)).map(({ record }) => record.account), ["other"]);
  const pieces = await store.scan(["webhook", "feed_body"], { limit: 100 });
  assert(pieces.length > 0 && pieces.every(({ key }) => key.includes("task-other")));
});
