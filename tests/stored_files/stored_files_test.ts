import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { createAccount } from "../../src/money/billing/accounts/account.ts";
import { keyKey, type KeyRecord } from "../../src/money/billing/accounts/records.ts";
import { openFileDirectory } from "../../src/platform/files/directory.ts";
import { DiskQuota } from "../../src/platform/files/quota.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { hasStoredRecord } from "../../src/services/stored_files/records.ts";
import { eraseStoredFiles, storedFileSweep } from "../../src/services/stored_files/retention.ts";
import { StoredFiles } from "../../src/services/stored_files/stored_files.ts";
import { Uploads } from "../../src/services/stored_files/uploads.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { stateOf } from "../support/patience.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const OWNER = { accountId: "demo", keyId: "key-1" };
const DAY_MS = 86_400_000;
const FILE = { filename: "in.jsonl", purpose: "batch", lifetimeSeconds: null } as const;

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

/** A key with a name that a test gives it. */
function keyOf(account: string, id: string, now: number) {
  const value: KeyRecord = { id, account, hash: "", prefix: "", createdAt: now, lastUsedAt: now, revokedAt: null };
  return { key: keyKey(account, id), value };
}

async function stage(quotaBytes: number | null = null) {
  const clock = new ManualClock();
  const store = await openMemoryStore({ clock });
  for (const account of ["demo", "other"]) {
    await createAccount(store, { id: account, balance: 0n });
    await store.commit(null, { set: ["key-1", "key-2"].map((id) => keyOf(account, id, clock.now())) });
  }
  const folder = await Deno.makeTempDir();
  const files = openFileDirectory(folder, new DiskQuota({ quotaBytes, log: silentLog }));
  const parts = { store, files, log: silentLog };
  const stored = new StoredFiles({ ...parts, retentionMs: () => 7 * DAY_MS });
  return {
    clock,
    folder,
    stored,
    uploads: new Uploads(stored),
    sweep: storedFileSweep(parts),
    erase: (account: string) => eraseStoredFiles(parts, account),
    isKept: (name: string) => hasStoredRecord(store, name),
    add: async (text = "one\n", owner = OWNER) => await stored.add(await stored.write(chunks(text)), FILE, owner),
    names: () => Array.from(Deno.readDirSync(folder), ({ name }) => name),
    async [Symbol.asyncDispose]() {
      await store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function codeOf(error: Error): string {
  return error instanceof GatewayError ? error.code : error.name;
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  return codeOf(await assertRejects(() => promise, Error));
}

Deno.test("stored files: a file is found by its key only, until it is removed", async () => {
  await using at = await stage();
  const { id } = await at.add();
  assertEquals((await at.stored.read("key-1", id)).bytes, 4);
  assertEquals(await refusal(at.stored.read("key-2", id)), "not_found");
  assertEquals(await refusal(at.stored.remove("key-2", id)), "not_found");
  assertEquals(await refusal(at.stored.read("key-1", "../../etc/passwd")), "not_found");
  await at.stored.remove("key-1", id);
  assertEquals(await refusal(at.stored.read("key-1", id)), "not_found");
  assertEquals(at.names(), []);
});

Deno.test("stored files: lists have the order of creation, pages, and one purpose", async () => {
  await using at = await stage();
  const ids = [];
  for (let count = 0; count < 5; count++) ids.push((await at.add()).id);
  const content = await at.stored.write(chunks("png"));
  const image = await at.stored.add(content, { ...FILE, purpose: "vision" }, OWNER);
  await at.add("other", { accountId: "demo", keyId: "key-2" });
  const page = { purpose: null, after: null, limit: 4, reverse: true };
  const first = await at.stored.list("key-1", page);
  assertEquals(first.files.map(({ id }) => id), [image.id, ...ids.slice(2).reverse()]);
  assertEquals(first.hasMore, true);
  const next = await at.stored.list("key-1", { ...page, after: ids[2] ?? null });
  assertEquals([next.files.map(({ id }) => id), next.hasMore], [[ids[1], ids[0]], false]);
  const batches = await at.stored.list("key-1", { purpose: "batch", after: null, limit: 10, reverse: false });
  assertEquals(batches.files.map(({ id }) => id), ids);
});

Deno.test("stored files: a file ends after its lifetime, and at the end of retention at the latest", async () => {
  await using at = await stage();
  const short = await at.stored.add(await at.stored.write(chunks("a")), { ...FILE, lifetimeSeconds: 3_600 }, OWNER);
  const long = await at.stored.add(await at.stored.write(chunks("b")), { ...FILE, lifetimeSeconds: 2_592_000 }, OWNER);
  assertEquals(long.expiresAt, long.createdAt + 7 * DAY_MS);
  at.clock.advance(3_600_000);
  assertEquals(await refusal(at.stored.read("key-1", short.id)), "not_found");
  assertEquals((await at.stored.list("key-1", { purpose: null, after: null, limit: 9, reverse: true })).files, [long]);
  assertEquals(await at.sweep(), false);
  assertEquals(at.names(), [`${long.id}.bin`]);
  at.clock.advance(7 * DAY_MS);
  await at.sweep();
  assertEquals(at.names(), []);
});

Deno.test("stored files: a content that was changed on the disk is not sent as a whole", async () => {
  await using at = await stage();
  const file = await at.add("a".repeat(200_000));
  const path = join(at.folder, `${file.id}.bin`);
  assertEquals((await new Response((await at.stored.open(file)).stream).text()).length, 200_000);
  const bytes = await Deno.readFile(path);
  bytes[150_000] = 0x62;
  await Deno.writeFile(path, bytes);
  let sent = 0;
  await assertRejects(async () => {
    for await (const chunk of (await at.stored.open(file)).stream) sent += chunk.length;
  }, Error);
  assert(sent < 200_000, `${sent} bytes`);
});

Deno.test("stored files: without room nothing is stored, and the error says so", async () => {
  await using at = await stage(1_000);
  assertEquals(await refusal(at.stored.write(chunks("a".repeat(1_001)))), "storage_unavailable");
  assertEquals(at.names(), []);
});

Deno.test("stored files: an erased account has no files and no uploads", async () => {
  await using at = await stage();
  await at.add();
  const kept = await at.add("kept", { accountId: "other", keyId: "key-2" });
  const { id } = await at.uploads.create({ ...FILE, bytes: 4 }, OWNER);
  await at.uploads.addPart("key-1", id, { source: chunks("part") });
  assertEquals(await at.erase("demo"), 2);
  assertEquals(at.names(), [`${kept.id}.bin`]);
  assertEquals(await refusal(at.uploads.cancel("key-1", id)), "not_found");
});

Deno.test("uploads: parts are joined in the given order, and then removed", async () => {
  await using at = await stage();
  const { id } = await at.uploads.create({ ...FILE, bytes: 6 }, OWNER);
  const [one, two] = await Promise.all(
    ["one", "two"].map((text) => at.uploads.addPart("key-1", id, { source: chunks(text) })),
  );
  assert(one !== undefined && two !== undefined);
  const partNames = at.names();
  for (const name of partNames) assertEquals(await at.isKept(name), true);
  const md5 = "5bd2026f128662763c532f2f4b6f2476"; // of "twoone"
  assertEquals(await refusal(at.uploads.complete("key-2", id, { partIds: [two.id, one.id], md5 })), "not_found");
  assertEquals(await refusal(at.uploads.complete("key-1", id, { partIds: [one.id, two.id], md5 })), "invalid_request");
  const { upload, file } = await at.uploads.complete("key-1", id, { partIds: [two.id, one.id], md5: null });
  assertEquals([upload.status, upload.fileId, file.bytes], ["completed", file.id, 6]);
  assertEquals(await new Response((await at.stored.open(file)).stream).text(), "twoone");
  assertEquals(at.names(), [`${file.id}.bin`]);
  for (const name of partNames) assertEquals(await at.isKept(name), false);
  assertEquals(await refusal(at.uploads.complete("key-1", id, { partIds: [one.id], md5: null })), "invalid_request");
});

Deno.test("uploads: parts that are missing, foreign, repeated or too large are refused", async () => {
  await using at = await stage();
  const { id } = await at.uploads.create({ ...FILE, bytes: 6 }, OWNER);
  const one = await at.uploads.addPart("key-1", id, { source: chunks("one") });
  const complete = (...partIds: string[]) => refusal(at.uploads.complete("key-1", id, { partIds, md5: null }));
  assertEquals(await complete(one.id), "invalid_request");
  assertEquals(await complete(one.id, one.id), "invalid_request");
  assertEquals(await complete(one.id, "part_0"), "invalid_request");
  assertEquals(await refusal(at.uploads.addPart("key-1", id, { source: chunks("four") })), "invalid_request");
  assertEquals(await refusal(at.uploads.addPart("key-2", id, { source: chunks("two") })), "not_found");
  assertEquals(at.names().length, 1);
});

Deno.test("uploads: one that is cancelled or past its end takes no parts, and leaves no content", async () => {
  await using at = await stage();
  const first = await at.uploads.create({ ...FILE, bytes: 6 }, OWNER);
  await at.uploads.addPart("key-1", first.id, { source: chunks("one") });
  assertEquals((await at.uploads.cancel("key-1", first.id)).status, "cancelled");
  assertEquals(at.names(), []);
  const second = await at.uploads.create({ ...FILE, bytes: 6 }, OWNER);
  await at.uploads.addPart("key-1", second.id, { source: chunks("one") });
  at.clock.advance(3_600_000);
  assertEquals(await refusal(at.uploads.addPart("key-1", second.id, { source: chunks("two") })), "invalid_request");
  await at.sweep();
  assertEquals(at.names(), []);
  assertEquals(await refusal(at.uploads.cancel("key-1", second.id)), "not_found");
});

Deno.test("uploads: parts under way write no more than twice what the upload announced", async () => {
  await using at = await stage();
  const { id } = await at.uploads.create({ ...FILE, bytes: 4 }, OWNER);
  const gate = Promise.withResolvers<void>();
  const open = [1, 2].map(() => {
    const source = async function* () {
      yield* chunks("part");
      await gate.promise;
    };
    return at.uploads.addPart("key-1", id, { source: source() });
  });
  await stateOf("two parts", at.names, (names) => names.length === 2);
  let taken = 0;
  const endless = async function* () {
    for (; taken < 100; taken++) yield* chunks("more");
  };
  assertEquals(await refusal(at.uploads.addPart("key-1", id, { source: endless() })), "invalid_request");
  assertEquals(taken, 0);
  gate.resolve();
  assertEquals((await Promise.allSettled(open)).map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  assertEquals(at.names().length, 1);
});

Deno.test("uploads: one request at a time joins the parts, so that they take their room twice at most", async () => {
  await using at = await stage(8);
  const { id } = await at.uploads.create({ ...FILE, bytes: 4 }, OWNER);
  const part = await at.uploads.addPart("key-1", id, { source: chunks("part") });
  const complete = () => at.uploads.complete("key-1", id, { partIds: [part.id], md5: null });
  const results = await Promise.allSettled([complete(), complete(), complete()]);
  const codes = results.map((result) => result.status === "fulfilled" ? "joined" : codeOf(result.reason));
  assertEquals(codes.toSorted(), ["conflict", "conflict", "joined"]);
});

Deno.test("hasStoredRecord() tells contents with a record from leftovers and from other files", async () => {
  await using at = await stage();
  const file = await at.add();
  assertEquals(await at.isKept(`${file.id}.bin`), true);
  const { id } = await at.stored.write(chunks("no record"));
  assertEquals(await at.isKept(`${id}.bin`), false);
  assertEquals(await at.isKept("0193a5b0-0000-7000-8000-000000000000-0.mp4"), null);
});
