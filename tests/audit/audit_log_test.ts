import { assertEquals } from "@std/assert";
import { type AuditEntry, type AuditIntent, AuditLog } from "../../src/observers/audit/audit_log.ts";
import { manualClock } from "../billing/support.ts";
import { openMemoryStore } from "../support/memory_store.ts";

const DAY_MS = 86_400_000;

function intent(changes: Partial<AuditIntent> = {}): AuditIntent {
  return {
    actor: { name: "ci", address: "192.0.2.1" },
    requestId: "req_1",
    method: "PATCH",
    path: "/admin/v1/accounts/acme",
    account: "acme",
    before: null,
    ...changes,
  };
}

async function openLog(retentionMs: number | null = null) {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  return { clock, store, log: new AuditLog(store, retentionMs) };
}

const states = (entries: readonly AuditEntry[]) => entries.map(({ state, before, after }) => [state, before, after]);

Deno.test("an entry has the changed fields before and after, without secrets", async () => {
  const { log } = await openLog();
  const change = await log.begin(intent({ before: { id: "acme", name: "a", headers: { "x-key": "s1" }, rpm: 5 } }));
  await change.done({ id: "acme", name: "b", headers: { "x-key": "s2" }, nested: { api_key: "s3" }, rpm: 5 });
  const { entries, next } = await log.list({}, { limit: 20 });
  assertEquals(states(entries), [["done", { name: "a", headers: "(secret)" }, {
    name: "b",
    headers: "(secret)",
    nested: { api_key: "(secret)" },
  }]]);
  assertEquals(next, null);
});

Deno.test("an entry is stored before the change, and stays if the process ends during it", async () => {
  const { log, store } = await openLog();
  await log.begin(intent({ before: { id: "acme", secret: "s1" } }));
  const { entries } = await new AuditLog(store, null).list({}, { limit: 20 });
  assertEquals(states(entries), [["begun", { id: "acme", secret: "(secret)" }, null]]);
});

Deno.test("a refused change leaves no entry", async () => {
  const { log } = await openLog();
  await (await log.begin(intent())).refused();
  assertEquals((await log.list({}, { limit: 20 })).entries, []);
});

Deno.test("entries are listed newest first, page by page, by time, actor and account", async () => {
  const { log, clock } = await openLog();
  const start = clock.now();
  for (let n = 0; n < 250; n++) {
    const actor = { name: n % 2 === 0 ? "ci" : "ops", address: null };
    await (await log.begin(intent({ actor, requestId: `req_${n}`, account: `a${n % 5}` }))).done(null);
    clock.advance(1_000);
  }
  const requests = async (filter: Parameters<AuditLog["list"]>[0]) => {
    const found: (string | null)[] = [];
    let after: string | undefined;
    do {
      const page = await log.list(filter, { limit: 7, ...after === undefined ? {} : { after } });
      found.push(...page.entries.map(({ requestId }) => requestId));
      after = page.next ?? undefined;
    } while (after !== undefined);
    return found;
  };
  const all = Array.from({ length: 250 }, (_, n) => 249 - n);
  assertEquals(await requests({}), all.map((n) => `req_${n}`));
  const selected = all.filter((n) => n % 2 === 1 && n % 5 === 3);
  assertEquals(await requests({ actor: "ops", account: "a3" }), selected.map((n) => `req_${n}`));
  const range = { from: start + 100_000, to: start + 103_000 };
  assertEquals(await requests(range), ["req_102", "req_101", "req_100"]);
});

Deno.test("entries are removed after the retention", async () => {
  const { log, clock } = await openLog(400 * DAY_MS);
  await (await log.begin(intent())).done(null);
  clock.advance(400 * DAY_MS - 1);
  assertEquals((await log.list({}, { limit: 20 })).entries.length, 1);
  clock.advance(2);
  assertEquals((await log.list({}, { limit: 20 })).entries.length, 0);
});
