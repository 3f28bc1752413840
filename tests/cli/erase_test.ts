import { assertEquals, assertStringIncludes } from "@std/assert";
import { makePlace } from "./gateway_folder.ts";

Deno.test("accounts erase asks for --yes, and erases on a running gateway and on the store of a stopped one", async () => {
  const place = await makePlace();
  const gateway = await place.serve();
  for (const id of ["acme", "other"]) await place.run("accounts", "create", id, "--name", "Quokka", "--balance", "5");
  const unsure = await place.run("accounts", "erase", "acme");
  assertEquals([unsure.code, unsure.said], [2, ""]);
  assertStringIncludes(unsure.complaint, "switchyard accounts erase: missing option: --yes");
  const running = await place.run("accounts", "erase", "acme", "--yes");
  assertEquals([running.code, JSON.parse(running.said).status], [0, "erased"], running.complaint);
  const declared = await place.run("accounts", "erase", "demo", "--yes");
  assertEquals(declared.code, 1);
  assertStringIncludes(declared.complaint, "switchyard.json: accounts[0]): remove it there and reload");
  await gateway.stop();

  const stopped = await place.run("accounts", "erase", "other", "--yes");
  assertEquals([stopped.code, JSON.parse(stopped.said).removed.tasks], [0, 0], stopped.complaint);
  const { status, name, balance, erased_at } = JSON.parse((await place.run("accounts", "show", "other")).said);
  assertEquals([status, name, balance, typeof erased_at], ["erased", null, "5.0000000000", "number"]);
  await place.remove();
});
