import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { THREAD_MODULES } from "../../src/lib/program_files.ts";
import { VERSION } from "../../src/cli/version.ts";
import { type InstalledPackage, installPackage, type StartedGateway } from "./installed.ts";

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

async function withGateway(
  { start }: InstalledPackage,
  args: readonly string[],
  run: (gateway: StartedGateway) => Promise<void>,
): Promise<void> {
  const gateway = await start(...args);
  let end: Awaited<ReturnType<StartedGateway["stop"]>> | null = null;
  try {
    await run(gateway);
  } finally {
    end = await gateway.stop();
  }
  assertEquals(end.code, 0, end.log);
  assertEquals(end.log.split("\n").filter((line) => /"level":"error"/.test(line)), []);
}

/** Sends a request with the key of `dev`. */
async function ask({ address }: StartedGateway, path: string, body?: unknown): Promise<Response> {
  const key = await Deno.readTextFile(join(folder, "data", "dev-key")).catch(() => "");
  const response = await fetch(`${address}${path}`, {
    headers: { authorization: `Bearer ${key}`, "x-goog-api-key": key, "content-type": "application/json" },
    ...body !== undefined && { method: "POST", body: JSON.stringify(body) },
  });
  const bytes = await response.bytes();
  assert(response.ok, new TextDecoder().decode(bytes.subarray(0, 1_000)));
  return new Response(bytes, response);
}

const chatOf = (content: string) => ({ model: "sandbox/chat-1", messages: [{ role: "user", content }] });

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

test("dev serves texts, pictures, videos and the console, with all threads", async (installed) => {
  await withGateway(installed, ["dev"], async (gateway) => {
    const chat = await (await ask(gateway, "/v1/chat/completions", chatOf("hello"))).json();
    assertEquals(chat.choices[0].message.content, "You said: hello");
    // Above the size at which a thread handles the request.
    await ask(gateway, "/v1/chat/completions", chatOf("a".repeat(3_000_000)));
    const count = await ask(gateway, "/gencompat/v1beta/models/sandbox/chat-1:countTokens", {
      contents: [{ parts: [{ text: "hello world" }] }],
    });
    assertEquals((await count.json()).totalTokens, 2);
    const image = await ask(gateway, "/v1/images/generations", {
      model: "sandbox/image-1",
      prompt: "a lighthouse",
      quality: "low",
      output_format: "jpeg", // another format than the vendor's, so that the thread for media converts it
    });
    assertMatch((await image.json()).data[0].b64_json, /^\/9j\//);
    const { id } = await (await ask(gateway, "/v1/videos", { model: "sandbox/video-1", prompt: "a lighthouse" }))
      .json();
    const events = await (await ask(gateway, `/v1/videos/${id}/events`)).text();
    assertMatch(events, /"status":"completed"/);
    const { data } = await (await ask(gateway, "/v1/requests")).json();
    assert(data.length >= 5);
    const page = await (await ask(gateway, "/console")).text();
    const assets = [...page.matchAll(/\/console\/assets\/[\w.-]+/g)].map(([path]) => path);
    assert(assets.length >= 2);
    for (const path of assets) await ask(gateway, path);
    const list = await installed.run("accounts", "list");
    assertEquals(JSON.parse(list.stdout).data.map(({ id }: { id: string }) => id), ["demo"]);
  });
});

test("serve accepts connections on several threads", async (installed) => {
  const config = join(installed.folder, "isolates.yaml");
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      server: { isolates: Deno.build.os === "linux" ? 2 : 1 },
      store: "kv:./isolates.db",
      providers: { vendor: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "unused" } },
      models: [{ id: "a/b", pricing: { prompt: "0", completion: "0" }, serves: [{ provider: "vendor" }] }],
    }),
  );
  await withGateway(installed, ["serve", "--config", config], async (gateway) => {
    assertEquals(await (await ask(gateway, "/healthz")).text(), "ok\n");
    const refused = await fetch(`${gateway.address}/v1/chat/completions`, { method: "POST", body: "{}" });
    assertEquals(refused.status, 401);
    await refused.body?.cancel();
  });
});
