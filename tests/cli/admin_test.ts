import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makePlace } from "./gateway_folder.ts";

Deno.test("tasks and signing keys are administered on a running gateway, and alike on its store once it is stopped", async () => {
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

Deno.test("providers list says that the health of providers is known to a running gateway alone", async () => {
  const place = await makePlace();
  const { code, said, complaint } = await place.run("providers", "list");
  assertEquals([code, said], [1, ""]);
  assertStringIncludes(complaint, "No gateway answers at http://127.0.0.1:");
  assertStringIncludes(complaint, "known to a running gateway alone");
  await place.remove();
});

Deno.test("--gateway names a running gateway whose port the configuration leaves open", async () => {
  const place = await makePlace({ port: 0 });
  const gateway = await place.serve();
  const { code, said } = await place.run("providers", "list", "--gateway", `${gateway.address}/`);
  assertEquals([code, JSON.parse(said).data.length], [0, 1]);
  const without = await place.run("tasks", "list");
  assertEquals([without.code, JSON.parse(without.said).data], [0, []]); // it is found by its store
  await gateway.stop();
  await place.remove();
});

Deno.test("a command that cannot be carried out ends with a word and no trace", async () => {
  const place = await makePlace({ admin_key: "" });
  await place.run("accounts", "create", "acme");
  for (
    const [words, code, complaint] of [
      [["tasks", "list", "--status", "lost"], 1, 'Cannot read "status": expected one of pending,'],
      [["tasks", "show", "lost"], 1, "Cannot find the task: no such task"],
      [["tasks", "show"], 2, "switchyard: expected a task's id"],
      [["tasks", "drop"], 2, 'switchyard tasks: there is no "drop"'],
      [["signing-keys"], 2, 'switchyard signing-keys: there is no ""'],
      [["providers", "list"], 2, "switchyard: expected server.admin_key"],
      [["ledger", "verify", "--gateway", "http://x"], 2, "switchyard ledger verify: it reads a store, not a --gateway"],
      [["providers", "list", "--gateway", "ftp://x"], 2, "switchyard: expected"],
    ] as const
  ) {
    const answer = await place.run(...words);
    assertEquals([answer.code, answer.said], [code, ""], words.join(" "));
    assert(answer.complaint.startsWith(complaint), answer.complaint);
    assert(!answer.complaint.includes("    at "), answer.complaint);
  }
  await place.remove();
});
