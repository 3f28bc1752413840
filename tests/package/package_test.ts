import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { THREAD_MODULES } from "../../src/platform/lib/process/program_files.ts";
import { VERSION } from "../../src/entry/cli/version.ts";
import { send, visitDev, withGateway } from "./dev_visit.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { ROOT } from "../architecture/source_files.ts";
import { readCodeBlocks } from "../documentation/samples/code_blocks.ts";
import { compareTexts } from "../documentation/samples/expected_output.ts";
import { withShell } from "../documentation/samples/shell.ts";
import { present } from "../support/items.ts";
import { always, chatReply, startScriptedUpstream } from "../support/scripted_upstream.ts";
import { type InstalledPackage, installPackage } from "./installed.ts";

/** Set by `deno task test:package`, because npm installs Deno's own package. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_PACKAGE");
const folder = isWanted ? await Deno.makeTempDir() : "";
let installed: InstalledPackage | null = null;

globalThis.addEventListener("unload", () => {
  if (folder !== "") Deno.removeSync(folder, { recursive: true });
});

function test(name: string, run: (installed: InstalledPackage) => Promise<void>): void {
  Deno.test({
    name: `package: ${name}`,
    ignore: !isWanted,
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => await run(installed ??= await installPackage(folder)),
  });
}

test("it names its version, its commit and the version of Deno", async ({ run, app }) => {
  const { code, stdout } = await run("--version");
  const { commit } = JSON.parse(await Deno.readTextFile(join(app, "build.json")));
  assertEquals(code, 0);
  assertEquals(
    stdout.trim(),
    `${VERSION} (${commit ? `commit ${commit}` : "unknown commit"}, Deno ${Deno.version.deno})`,
  );
});

test("it contains the modules of all threads, and no package of the tests", async ({ app }) => {
  for (const path of THREAD_MODULES) await Deno.stat(join(app, "src", `${path}.js`));
  let bytes = 0;
  for await (const { name } of Deno.readDir(app)) bytes += (await Deno.stat(join(app, name))).size;
  assert(bytes < 20_000_000, `The bundle has ${bytes} bytes`);
});

test("a wrong command line ends with the exit code of the gateway", async ({ run }) => {
  const { code, stderr } = await run("sevre");
  assertEquals(code, 2);
  assertMatch(stderr, /unknown command "sevre"/);
});

test("dev serves texts, pictures, videos and the console, with all threads", visitDev);

test("serve answers texts on several threads", async (installed) => {
  const vendor = startScriptedUpstream(always(chatReply("hello", { prompt: 3, completion: 1 })));
  const key = newApiKey();
  const config = join(installed.folder, "isolates.yaml");
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { isolates: Deno.build.os === "linux" ? 2 : 1 },
      store: "kv:./isolates.db",
      accounts: [{ id: "demo", balance: "1.00", keys: [key] }],
      providers: { vendor: { kind: "openai", base_url: vendor.baseUrl, api_key: "vendor-key", speaks: "chat" } },
      models: [{
        id: "a/b",
        context_length: 8_000,
        pricing: { prompt: "0.000001", completion: "0.000002" },
        serves: [{ provider: "vendor" }],
      }],
      egress: { allow: ["127.0.0.1/32"] },
    }),
  );
  await withGateway(installed, ["serve", "--config", config], async (gateway) => {
    assertEquals(await (await send(gateway, folder, "/healthz")).text(), "ok\n");
    const refused = await fetch(`${gateway.address}/v1/chat/completions`, { method: "POST", body: "{}" });
    assertEquals(refused.status, 401);
    await refused.body?.cancel();
    // One request over each of several connections, so that threads share them.
    for (let nth = 0; nth < 8; nth++) {
      using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      const response = await fetch(`${gateway.address}/v1/chat/completions`, {
        client,
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "a/b", messages: [{ role: "user", content: "hi" }] }),
      });
      const body = await response.json();
      assertEquals([response.status, body.choices?.[0].message.content], [200, "hello"]);
    }
  });
  await vendor.stop();
});

/** The commands of a sample, each with what it shows of their output. */
function commandsIn(sample: string): { readonly command: string; readonly shown: string }[] {
  return sample.split(/^\$ /m).slice(1).map((part) => {
    const [command = "", ...shown] = part.split("\n");
    return { command, shown: shown.join("\n") };
  });
}

/** Of a tree with changes, or without a repository, it has other forms. */
const COMMIT = /(?:commit [0-9a-f]{12}\+?|unknown commit),/;

test("docs/installing.md: its commands build and install the package, and start it", async () => {
  const block = (await readCodeBlocks()).find(({ page, text }) =>
    page === "docs/installing.md" && text.includes("task package\n")
  );
  await withShell({}, async ({ home, run }) => {
    const cache = Deno.env.get("npm_config_cache") ?? join(Deno.env.get("HOME") ?? home, ".npm");
    const env = {
      npm_config_prefix: home,
      npm_config_cache: cache,
      PATH: `${home}/bin:${Deno.env.get("PATH")}`,
      PORT: "0",
      NO_COLOR: "1",
    };
    for (const { command, shown } of commandsIn(present(block, "the block").text)) {
      const script = command.endsWith(" dev")
        ? `cd "$HOME"; ${command} > printed & until grep -q "other commands" printed; do sleep 0.1; done; kill $!; cat printed`
        : command;
      const output = (await run(script, { cwd: ROOT, env })).replace(COMMIT, "commit 9da93cc1a257,");
      if (shown !== "") assertEquals(compareTexts(shown, output).problem, null, command);
    }
  });
});
