import { assertEquals } from "@std/assert";
import { parametersOf, repliesOf } from "./parameters.ts";
import { committedUnknowns, unknownMembers } from "./unknown_members.ts";

Deno.test("what official clients have and no source file knows is listed", async () => {
  const formats = ["chat", "responses", "messages", "content"] as const;
  const tables = Object.fromEntries(
    await Promise.all(
      formats.map(async (format) =>
        [format, { requests: await parametersOf(format), replies: await repliesOf(format) }] as const
      ),
    ),
  );
  assertEquals(
    await unknownMembers(tables),
    await committedUnknowns(),
    "after a member became known, write the list again: deno task parameters",
  );
});

Deno.test("the tables of requests and replies are of the same release of each client", async () => {
  for (const format of ["chat", "responses", "messages", "content"] as const) {
    const [{ version }, replies] = [await parametersOf(format), await repliesOf(format)];
    assertEquals(version, replies.version, format);
  }
});
