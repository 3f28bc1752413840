import { assertEquals } from "@std/assert";

Deno.test("workspace: no member is below tests/, since the tests of a member would run in place of all others", async () => {
  const { workspace } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assertEquals(workspace.filter((member: string) => /^(\.\/)?tests(\/|$)/.test(member)), []);
});
