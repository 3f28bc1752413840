import { assert, assertEquals, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import type { RecordedAttempt } from "../../src/platform/http/request/request_record.ts";
import { newRequestId } from "../../src/platform/lib/basics/ids.ts";
import { appendRow, joinRows, type RowValue } from "../../src/observers/request_log/row.ts";
import { LogFile } from "../../src/observers/request_log/sqlite/log_file.ts";
import { LogTasks } from "../../src/observers/request_log/sqlite/log_tasks.ts";
import { LaterSchemaError } from "../../src/observers/request_log/sqlite/schema.ts";
import { search } from "../../src/observers/request_log/search.ts";
import { deleteAccount, trim } from "../../src/observers/request_log/sqlite/trim.ts";
import type { FromLogThread } from "../../src/observers/request_log/messages.ts";
import { openTestLog, recordOf } from "./support.ts";

async function withFolder(test: (path: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(join(folder, "requests.db"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function rowsOf(ids: readonly string[], endedAt: number): RowValue[] {
  const values: RowValue[] = [];
  for (const requestId of ids) appendRow(values, recordOf({ requestId }), endedAt);
  return values;
}

const pause = () => Promise.resolve();
const NOW = 1_800_000_000_000;
const EVERYTHING = { order: "asc", limit: 1_000 } as const;

async function idsIn(file: LogFile): Promise<unknown[]> {
  const { rows } = await search(file, EVERYTHING, { now: () => 0, pause });
  return rows.map(({ request_id }) => request_id);
}

Deno.test("positions rise although the clock goes backwards, across files that are opened again", async () => {
  await withFolder((path) => {
    const first = new LogFile(path);
    first.append(rowsOf(["req_1", "req_2"], 2_000));
    first.close();
    const second = new LogFile(path);
    second.append(rowsOf(["req_3"], 1_000));
    assertEquals(second.get("req_1")?.position, 2_000_000);
    assertEquals(second.get("req_3")?.position, 2_000_002);
    second.close();
  });
});

Deno.test("retention removes rows by age, then the oldest by size", async () => {
  const file = new LogFile(":memory:");
  file.append(rowsOf(["req_old"], 1_000));
  file.append(rowsOf(["req_new"], 10_000));
  const retention = { retentionMs: 5_000, maxBytes: 1e9, now: () => 10_000, pause };
  assertEquals(await trim(file, retention), 1);
  assertEquals(await idsIn(file), ["req_new"]);
  for (let batch = 0; batch < 8; batch++) {
    file.append(rowsOf(Array.from({ length: 1_000 }, (_, row) => `req_${batch}_${row}`), 10_000 + batch));
  }
  const maxBytes = file.usedBytes / 2;
  assert(await trim(file, { ...retention, maxBytes }) >= 3_000);
  assert(file.usedBytes <= maxBytes);
  assert(file.get("req_7_999") !== null);
  file.close();
});

Deno.test("a query that reaches its deadline returns where to continue", async () => {
  const file = new LogFile(":memory:");
  for (let batch = 0; batch < 5; batch++) {
    file.append(rowsOf(Array.from({ length: 2_000 }, (_, row) => `req_${batch}_${row}`), 1_000 + batch));
  }
  let now = 0;
  const query = { order: "desc", limit: 10, text: "req_0_0" } as const;
  const clock = { now: () => now += 60, pause };
  const first = await search(file, query, clock);
  assertEquals(first.rows.length, 0);
  assert(first.next !== null);
  const second = await search(file, { ...query, after: first.next }, clock);
  assertEquals(second.rows.map(({ request_id }) => request_id), ["req_0_0"]);
  file.close();
});

Deno.test("a request is found by its id, also if it took long or the clock went backwards", () => {
  const file = new LogFile(":memory:");
  const ids = [0, 1_999, 2_000, 90_000_000].map((ageMs) => ({ id: newRequestId(NOW - ageMs), endedAt: NOW }));
  const later = { id: newRequestId(NOW + 60_000), endedAt: NOW }; // The clock was ahead when it arrived.
  for (const { id, endedAt } of [...ids, later]) file.append(rowsOf([id], endedAt));
  const early = newRequestId(NOW - 7_200_000); // The clock is behind.
  file.append(rowsOf([early], NOW - 7_200_000));
  const all = [...ids.map(({ id }) => id), later.id, early];
  assertEquals(all.map((id) => file.get(id)?.request_id), all);
  for (const id of [newRequestId(NOW), "req_ffffffffffff000000000000", "req_", "é", ""]) {
    assertEquals(file.get(id), null);
  }
  file.close();
});

Deno.test("requests in a file of the first schema are found by their ids", async () => {
  await withFolder((path) => {
    const ids = [newRequestId(NOW - 1), newRequestId(NOW - 5_000)];
    const file = new LogFile(path);
    file.append(rowsOf(ids, NOW));
    file.close();
    const database = new DatabaseSync(path);
    // As the first version left it.
    database.exec(
      `DROP INDEX requests_by_text; DROP INDEX requests_by_slow_id; ALTER TABLE requests DROP COLUMN is_slow;
      CREATE INDEX requests_by_id ON requests (request_id);
      UPDATE requests SET facts = json_set(facts, '$[0]', ${NOW - 1}) WHERE request_id = '${ids[0]}';
      UPDATE requests SET facts = json_set(facts, '$[0]', ${NOW - 5_000}) WHERE request_id = '${ids[1]}';
      PRAGMA user_version = 1`,
    );
    database.close();
    const migrated = new LogFile(path);
    assertEquals(ids.map((id) => migrated.get(id)?.request_id), ids);
    migrated.append(rowsOf([newRequestId(NOW)], NOW));
    migrated.close();
    const again = new DatabaseSync(path);
    assertEquals(again.prepare("SELECT count(*) AS count FROM requests WHERE is_slow = 1").get()?.count, 1);
    again.close();
  });
});

Deno.test("a file of a later version is left as it is", async () => {
  await withFolder((path) => {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA user_version = 999");
    database.close();
    assertThrows(() => new LogFile(path), LaterSchemaError);
  });
});

Deno.test("a log that cannot be opened drops its rows with the reason, and writes once it can", async () => {
  await withFolder(async (path) => {
    await Deno.writeTextFile(path, "no database, but text that is long enough to be read as a header".repeat(4));
    const answers: FromLogThread[] = [];
    const tasks = new LogTasks({ path, retentionMs: 1e9, maxBytes: 1e9, minFreeBytes: 0, bodies: null }, (message) => {
      answers.push(message);
    });
    await tasks.run({ type: "append", rows: 1, text: joinRows(rowsOf(["req_1"], 1)) });
    assertEquals(answers, [{ type: "appended", rows: 1, failure: "file is not a database" }]);
    await Deno.remove(path);
    await tasks.run({ type: "append", rows: 1, text: joinRows(rowsOf(["req_2"], Date.now())) });
    assertEquals(answers.at(-1), { type: "appended", rows: 1, failure: null });
    await tasks.run({ type: "question", id: 1, question: { type: "close" } });
  });
});

Deno.test("a log leaves the free space that the store needs", async () => {
  await withFolder(async (path) => {
    const answers: FromLogThread[] = [];
    const minFreeBytes = Number.MAX_SAFE_INTEGER;
    const tasks = new LogTasks({ path, retentionMs: 1e9, maxBytes: 1e9, minFreeBytes, bodies: null }, (message) => {
      answers.push(message);
    });
    await tasks.run({ type: "append", rows: 1, text: joinRows(rowsOf(["req_1"], 1)) });
    assertEquals(answers, [{ type: "appended", rows: 1, failure: "the disk is almost full" }]);
  });
});

Deno.test("closing the log writes what is queued", async () => {
  await withFolder(async (path) => {
    const { log } = openTestLog({ path });
    log.observe(recordOf({ requestId: "req_last" }));
    await log.close();
    const file = new LogFile(path);
    assert(file.get("req_last") !== null);
    file.close();
  });
});

function attemptWith(message: string): RecordedAttempt {
  const [status, vendorRequestId] = [500, null];
  return {
    provider: "a",
    credential: null,
    model: "m",
    startedAt: 0,
    durationMs: 1,
    status,
    vendorRequestId,
    code: "server_error",
    message,
  };
}

Deno.test("errors of an earlier version's file are found by their text", async () => {
  await withFolder(async (path) => {
    const file = new LogFile(path);
    const values: RowValue[] = [];
    appendRow(values, recordOf({ requestId: "req_failed", status: 502, message: "The engine is overloaded" }), NOW);
    const attempts = [attemptWith("overloaded, too"), attemptWith("")];
    appendRow(values, recordOf({ requestId: "req_retried", attempts }), NOW);
    appendRow(values, recordOf({ requestId: "req_overloaded" }), NOW);
    file.append(values);
    file.close();
    const database = new DatabaseSync(path);
    database.exec("DROP INDEX requests_by_text; PRAGMA user_version = 2");
    database.close();
    const migrated = new LogFile(path);
    const { rows } = await search(migrated, { ...EVERYTHING, text: "OVERLOADED" }, { now: () => 0, pause });
    assertEquals(rows.map((row) => row.request_id), ["req_failed", "req_retried"]);
    migrated.close();
  });
});

Deno.test("the rows of a removed account leave no bytes in the file, also where pages were merged", async () => {
  await withFolder(async (path) => {
    const file = new LogFile(path);
    const values: RowValue[] = [];
    for (let n = 0; n < 3_000; n++) {
      const accountId = n % 2 === 0 ? "acme" : "beta";
      const message = `text of ${accountId} ${"x".repeat(accountId === "acme" ? n % 400 : 0)}`;
      // Of a length that an index stores in pages of their own.
      const attempts = n % 5 === 0 ? [attemptWith(message), attemptWith(message.repeat(20))] : [];
      appendRow(values, recordOf({ requestId: `req_${n}`, accountId, message, attempts }), n);
    }
    file.append(values);
    assertEquals(await deleteAccount(file, "acme", pause), 1_500);
    const condition = { sql: "account_id = ?", values: ["beta"] };
    const kept = file.select({ source: "all", condition, order: "asc" }, 10_000);
    file.close();
    assertEquals(kept.length, 1_500);
    const bytes = new TextDecoder("latin1").decode(await Deno.readFile(path));
    assert(bytes.includes("text of beta") && !bytes.includes("text of acme"));
  });
});
