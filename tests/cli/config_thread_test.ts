import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { join } from "node:path";
import { openThreadedConfig } from "../../src/entry/cli/process/config_thread.ts";
import { environmentOf } from "../../src/entry/cli/environment.ts";
import type { LoadedConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/tree/config_error.ts";
import { openConfigSource } from "../../src/config/load_config.ts";
import type { StoredConfig } from "../../src/config/tree/plain_tree.ts";

const FILE = `
server: { admin_key: an-admin-key-of-32-characters-000 }
providers:
  acme: { kind: openai, base_url: "http://127.0.0.1:9/v1", api_key: "\${ACME_KEY}", quirks: [] }
models:
  - id: acme/one
    pricing: { prompt: "0.000001" }
    serves: [{ provider: acme }]
accounts:
  - id: alpha
    balance: "2.50"
`;

const STORED: StoredConfig = { aliases: { mine: "acme/one" } };

async function writeFolder(text: string): Promise<{ path: string } & AsyncDisposable> {
  const folder = await Deno.makeTempDir();
  const path = join(folder, "switchyard.yaml");
  await Deno.writeTextFile(path, text);
  await Deno.writeTextFile(join(folder, ".env"), "ACME_KEY=key-of-the-environment\n");
  return { path, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

/** What the methods of a tree say about settings of each layer. */
function shownOf({ tree }: LoadedConfig): unknown {
  const entries = [["providers", "acme"], ["models", "acme/one"], ["aliases", "mine"], ["limits", "memory"]] as const;
  return {
    ...tree,
    owners: entries.map(([section, name]) => tree.ownerOf(section, name)),
    paths: entries.map(([section, name]) => tree.pathOf(section, name)),
    isKeyPrivate: tree.isPrivate(["providers", "acme", "api_key"]),
    isUrlPrivate: tree.isPrivate(["providers", "acme", "base_url"]),
    pathOf: null,
    ownerOf: null,
    isPrivate: null,
  };
}

Deno.test("a configuration that a thread reads is that of the process, also with settings of the store", async () => {
  await using folder = await writeFolder(FILE);
  const own = openConfigSource({ path: folder.path, env: environmentOf(folder.path) });
  const threaded = openThreadedConfig(folder.path);
  assertEquals(threaded.path, own.path);
  for (const stored of [{}, STORED]) {
    const [expected, loaded] = [own.load(stored), await threaded.load(stored)];
    assertEquals(loaded.config, expected.config);
    assertEquals(shownOf(loaded), shownOf(expected));
  }
  assertEquals((await threaded.load(STORED)).tree.ownerOf("aliases", "mine"), "store");
});

Deno.test("a thread reports all problems of a configuration, and reads the file again when it is changed", async () => {
  await using folder = await writeFolder(FILE.replace('"2.50"', '"lots"').replace("acme/one", "one"));
  const own = openConfigSource({ path: folder.path, env: environmentOf(folder.path) });
  const threaded = openThreadedConfig(folder.path);
  const expected = assertThrows(() => own.load({}), ConfigError);
  const { problems } = await assertRejects(async () => await threaded.load({}), ConfigError);
  assertEquals(problems, expected.problems);
  assertEquals(problems.length, 2);
  await Deno.writeTextFile(folder.path, FILE);
  assertEquals((await threaded.load({})).config.accounts.map(({ id }) => id), ["alpha"]);
  await Deno.remove(folder.path);
  await assertRejects(async () => await threaded.load({}), ConfigError, "no such file");
});

Deno.test("openThreadedConfig() refuses a named file that does not exist before it starts a thread", () => {
  assertThrows(() => openThreadedConfig("/no/such/switchyard.yaml"), ConfigError, "got no such file");
});
