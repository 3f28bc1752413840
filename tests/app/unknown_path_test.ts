import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { ROOT } from "../architecture/source_files.ts";
import { startTestGateway } from "../support/gateway.ts";

Deno.test("the error of an unknown path names every endpoint for callers, by the client's protocol", async () => {
  const gateway = await startTestGateway();
  const messageOf = async (path: string) => {
    const response = await fetch(`${gateway.address}${path}`, { method: "POST" });
    assertEquals(response.status, 404);
    return (await response.json()).error.message as string;
  };
  const hint = await messageOf("/v2/chat");
  const reference = await Deno.readTextFile(join(ROOT, "docs/api/README.md"));
  const rows = reference.split("\n").filter((line) =>
    line.startsWith("| `POST") || line.startsWith("| `GET /v1/models")
  );
  const paths = rows.flatMap((row) => [...row.matchAll(/`(?:POST |GET )?\/v1(\/(?:chat\/completions|[a-z]+))/g)])
    .map(([, path = ""]) => path);
  assert(new Set(paths).size >= 9, paths.join());
  assertEquals(paths.filter((path) => !hint.includes(path)), [], hint);
  assert(hint.length < 400, hint);
  const content = await messageOf("/gencompat/v1beta/none");
  for (
    const verb of [":generateContent", ":streamGenerateContent", ":countTokens", ":embedContent", ":batchEmbedContents"]
  ) {
    assert(content.includes(verb), content);
  }
  await gateway.stop();
});
