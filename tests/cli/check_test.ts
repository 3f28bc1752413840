import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { checkCommand } from "../../src/entry/cli/check.ts";
import { UsageError } from "../../src/entry/cli/usage_error.ts";

/** Runs a command on a file in a new folder, and returns its exit code and what it wrote to standard error. */
async function check(text: string, argsFor: (path: string) => string[]): Promise<[code: number, errors: string]> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/switchyard.yaml`;
  await Deno.writeTextFile(path, text);
  const { error } = console;
  let errors = "";
  console.error = (line: string) => void (errors += line.replaceAll(path, "FILE"));
  try {
    return [await checkCommand(argsFor(path)), errors];
  } finally {
    console.error = error;
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("config check takes the file as an argument or as --config", async () => {
  const text = "server: { admin_listen: '127.0.0.1:0' }";
  const [code, errors] = await check(text, (path) => ["check", path]);
  assertEquals([code, errors.slice(0, errors.indexOf(", got"))], [
    2,
    "FILE: server.admin_listen: expected an admin key for the admin API: set server.admin_key, server.admin_keys or " +
    "SWITCHYARD_ADMIN_KEY",
  ]);
  assertEquals(await check(text, (path) => ["check", "--config", path]), [code, errors]);
});

Deno.test("config check refuses unknown options and several files", async () => {
  for (const args of [["check", "--nonsense"], ["check", "a.yaml", "b.yaml"], ["check", "a.yaml", "--config=b.yaml"]]) {
    await assertRejects(() => checkCommand(args), UsageError, "switchyard config check: ");
  }
});

Deno.test("config check refuses a file of roots with which the gateway would not start", async () => {
  assertEquals(await check("egress: { ca_file: /no/roots.pem }", (path) => ["check", path]), [
    2,
    "FILE: egress.ca_file: expected a readable file of at most 4 MB with certificates in PEM, got no such file",
  ]);
});

Deno.test("config check says how many built-in models a section leaves out, but for those that a pattern stands for", async () => {
  const providers = "providers: { openai: { kind: openai, api_key: k }, anthropic: { kind: anthropic, api_key: k } }\n";
  const own = 'models: [{ id: "anthropic/*" }, { id: openai/own, pricing: free, serves: [{ provider: openai }] }]\n';
  const said = async (text: string) => {
    const { log } = console;
    const lines: string[] = [];
    console.log = (line: string) => void lines.push(line);
    try {
      assertEquals(await check(text, (path) => ["check", path]), [0, ""]);
    } finally {
      console.log = log;
    }
    return lines;
  };
  const [valid, note] = await said(providers + own);
  assertMatch(valid ?? "", /valid, with 2 providers, 1 model, 0 accounts$/);
  assertMatch(
    note ?? "",
    /models leaves out \d+ built-in models of these providers, such as "openai\/[^"]+"; "catalog: /,
  );
  assertEquals((await said(`catalog: built_in\n${providers}${own}`)).length, 1);
  assertEquals((await said(providers)).length, 1);
});
