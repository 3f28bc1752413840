import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { openKvStore } from "../../src/platform/store/kv/open_kv_store.ts";
import { addTask } from "../../src/services/videos/tasks/records.ts";
import { taskOf } from "../videos/tasks.ts";
import { makePlace } from "./gateway_folder.ts";

Deno.test("admin commands work on a running gateway and on the store of a stopped one", async () => {
  const place = await makePlace();
  const gateway = await place.serve();
  const id = await place.create(gateway.address);
  const listed = await place.run("tasks", "list", "--status", "pending", "--limit", "1");
  assertEquals([listed.code, JSON.parse(listed.said).data[0].id], [0, id]);
  const rotated = await place.run("signing-keys", "rotate");
  assertEquals(rotated.code, 0);
  const providers = await place.run("providers", "list");
  assertEquals([providers.code, JSON.parse(providers.said).data[0].name], [0, "ark"]);
  await gateway.stop();

  const again = await place.run("signing-keys", "rotate");
  assertEquals(JSON.parse(again.said).verifies[1], JSON.parse(rotated.said).signs);
  const shown = await place.run("tasks", "show", id);
  const { status, hold } = JSON.parse(shown.said);
  assertEquals([shown.code, status, hold.state], [0, "pending", "open"]);
  assertEquals(JSON.parse((await place.run("tasks", "list", "--account", "another")).said), { data: [], next: null });
  await place.remove();
});

Deno.test("providers list fails on a stopped gateway with the reason", async () => {
  const place = await makePlace();
  const { code, said, complaint } = await place.run("providers", "list");
  assertEquals([code, said], [1, ""]);
  assertStringIncludes(complaint, "No gateway responds at http://127.0.0.1:");
  assertStringIncludes(complaint, "the health of providers is available only from a running gateway");
  await place.remove();
});

Deno.test("--gateway selects a running gateway whose configured port is 0", async () => {
  const place = await makePlace({ port: 0 });
  const gateway = await place.serve();
  const { code, said } = await place.run("providers", "list", "--gateway", `${gateway.address}/`);
  assertEquals([code, JSON.parse(said).data.length], [0, 1]);
  const without = await place.run("tasks", "list");
  assertEquals([without.code, JSON.parse(without.said).data], [0, []]); // Found by its store.
  await gateway.stop();
  await place.remove();
});

Deno.test("an admin command that fails prints one message and no stack trace", async () => {
  const place = await makePlace({ admin_key: "" });
  await place.run("accounts", "create", "acme");
  for (
    const [words, code, complaint] of [
      [["tasks", "list", "--status", "lost"], 1, 'Cannot read --status "lost": expected one of pending,'],
      [["tasks", "show", "lost"], 1, "Cannot find the task: no such task"],
      [["tasks", "show"], 2, "switchyard tasks show: missing argument: task ID"],
      [["tasks", "drop"], 2, 'switchyard tasks: unknown subcommand "drop"'],
      [["signing-keys"], 2, "switchyard signing-keys: missing subcommand"],
      [["providers", "list"], 2, "switchyard: server.admin_key or SWITCHYARD_ADMIN_KEY must be set"],
      [["ledger", "verify", "--gateway", "http://x"], 2, "switchyard ledger verify: --gateway is not supported"],
      [["providers", "list", "--gateway", "ftp://x"], 2, "switchyard: --gateway must be"],
    ] as const
  ) {
    const answer = await place.run(...words);
    assertEquals([answer.code, answer.said], [code, ""], words.join(" "));
    assert(answer.complaint.startsWith(complaint), answer.complaint);
    assert(!answer.complaint.includes("    at "), answer.complaint);
  }
  await place.remove();
});

Deno.test("commands on a stopped gateway create no configured account and remove no left-over file", async () => {
  const place = await makePlace();
  const upload = `${place.files}/uploads/form-1`;
  await Deno.mkdir(`${place.files}/uploads`, { recursive: true });
  await Deno.writeTextFile(upload, "left over");
  await place.run("accounts", "create", "acme");
  const listed = await place.run("accounts", "list");
  assertEquals(JSON.parse(listed.said).data.map(({ id }: { id: string }) => id), ["acme"]);
  assertEquals(await Deno.readTextFile(upload), "left over");
  assertStringIncludes((await place.run("ledger", "verify")).said, "1 account,");
  const gateway = await place.serve();
  const after = await place.run("accounts", "list");
  assertEquals(JSON.parse(after.said).data.map(({ id }: { id: string }) => id), ["acme", "demo"]);
  await gateway.stop();
  await place.remove();
});

Deno.test("tasks list refuses a store of an earlier version until the gateway has migrated it", async () => {
  const place = await makePlace();
  const store = await openKvStore({ path: place.store, clock: systemClock, log: silentLog });
  const { set = [] } = addTask({}, taskOf(1, { status: "completed", account: "demo" }), store.now());
  await store.commit(null, { set: set.filter(({ key }) => key[1] === "task") });
  await store.close();
  const refused = await place.run("tasks", "list");
  assertEquals([refused.code, refused.said], [1, ""]);
  assertStringIncludes(refused.complaint, "was written by an earlier version. Start the gateway once to migrate it");
  assertEquals((await place.run("tasks", "show", taskOf(1).id)).code, 0);
  const gateway = await place.serve();
  await gateway.stop();
  const listed = await place.run("tasks", "list");
  assertEquals(JSON.parse(listed.said).data.map(({ id }: { id: string }) => id), [taskOf(1).id]);
  await place.remove();
});

Deno.test("a change by a command over a stopped store is in the audit log as one of the command line", async () => {
  const place = await makePlace();
  await place.run("accounts", "create", "acme");
  const created = await place.run("admin-keys", "create", "ci", "--role", "read");
  const { secret } = JSON.parse(created.said);
  const { code, said } = await place.run("audit", "list", "--actor", "command line");
  const [key, account] = JSON.parse(said).data;
  assertEquals([code, account.path, account.account, account.address], [0, "/admin/v1/accounts", "acme", null]);
  assertEquals([key.path, key.after.name, key.after.secret], ["/admin/v1/admin-keys", "ci", "(secret)"]);
  const gateway = await place.serve();
  const headers = { authorization: `Bearer ${secret}` };
  const listed = await fetch(`${gateway.address}/admin/v1/accounts`, { headers });
  assertEquals([listed.status, (await listed.json()).data.length], [200, 2]);
  await gateway.stop();
  await place.remove();
});
