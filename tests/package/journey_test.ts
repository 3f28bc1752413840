import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { ROOT } from "../architecture/source_files.ts";
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY, LOOPBACK_ROOT } from "../support/loopback_certificate.ts";
import { canIsolate, type IsolatedGateway, type IsolatedRoot, makeIsolatedRoot } from "./isolated_root.ts";
import { untilSo } from "../support/patience.ts";

/** Set by `deno task test:package`. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_PACKAGE") && await canIsolate();

/** The models of `dev`, and of the configuration below, that a visit uses. */
interface Models {
  readonly text: string;
  readonly image: string;
  readonly video: string;
}

const DEV_MODELS: Models = { text: "sandbox/chat-1", image: "sandbox/image-1", video: "sandbox/video-1" };
const OWN_MODELS: Models = { text: "own/text", image: "own/image", video: "own/video" };
const TOKEN_PRICE = "0.000001";

function configOf(baseUrls: Sandbox["baseUrls"], { key, store }: { readonly key: string; readonly store: string }) {
  const api_key = "sandbox-key";
  return {
    server: { port: 0 },
    store: `kv:/data/${store}.db`,
    files: `/data/${store}-files`,
    accounts: [{ id: "demo", balance: "10", keys: [key] }],
    providers: {
      openai: { kind: "openai", base_url: baseUrls.openai, api_key },
      ark: { kind: "ark", base_url: baseUrls.ark, api_key },
    },
    models: [
      {
        id: OWN_MODELS.text,
        pricing: { prompt: TOKEN_PRICE, completion: TOKEN_PRICE },
        serves: [{ provider: "openai", model: "text" }],
      },
      {
        id: OWN_MODELS.image,
        pricing: { per_image: "0.01" },
        image: { series: "reference" },
        serves: [{ provider: "ark", model: "seedream-5-0-pro" }],
      },
      {
        id: OWN_MODELS.video,
        video: { modes: ["text2video"], price_per_second: { default: "0.05" } },
        serves: [{ provider: "ark", model: "seedance" }],
      },
    ],
    limits: { vendor_polling: { first: 0.05, least: 0.05, most: 0.2, per_second: 1_000 } },
    egress: { allow: ["127.0.0.1/32"], ca_file: "/data/root.pem" },
  };
}

/** A caller of a gateway. */
class Caller {
  constructor(readonly address: string, readonly key: string) {}

  async json(path: string, body?: unknown) {
    const response = await fetch(`${this.address}${path}`, {
      headers: { authorization: `Bearer ${this.key}`, "content-type": "application/json" },
      ...body !== undefined && { method: "POST", body: JSON.stringify(body) },
    });
    const text = await response.text();
    assert(response.ok, text.slice(0, 1_000));
    return JSON.parse(text);
  }

  /** Asks for a text, a picture and a video. Returns the video's id when it is complete. */
  async visit({ text, image, video }: Models, callbackUrl?: string): Promise<string> {
    const chat = await this.json("/v1/chat/completions", {
      model: text,
      messages: [{ role: "user", content: "Say hello" }],
    });
    assertEquals(chat.choices[0].message.content, "You said: Say hello");
    const picture = await this.json("/v1/images/generations", {
      model: image,
      prompt: "A lighthouse at dusk",
      quality: "low",
    });
    assert(picture.data[0].b64_json.length > 100);
    const { id } = await this.json("/v1/videos", {
      model: video,
      prompt: "A lighthouse at dusk",
      ...callbackUrl !== undefined && { callback_url: callbackUrl },
    });
    const events = await fetch(`${this.address}/v1/videos/${id}/events`, {
      headers: { authorization: `Bearer ${this.key}` },
    });
    assertMatch(await events.text(), /"status":"completed"/);
    return id;
  }

  /** The bytes of the gateway's own copy of a video. */
  async videoBytes(id: string): Promise<Uint8Array> {
    let url: string | undefined;
    while (url === undefined) url = (await this.json(`/v1/videos/${id}`)).mirror_urls?.[0];
    const response = await fetch(url);
    assert(response.ok);
    return await response.bytes();
  }

  async balance(): Promise<string> {
    return (await this.json("/v1/credits")).balance;
  }
}

/** An https server for the events of videos, which acknowledges each. */
function startReceiver() {
  const events: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY, onListen() {} },
    async (request) => {
      const { event, id } = await request.json();
      assert(request.headers.has("x-service-signature"));
      events.push(`${event} ${id}`);
      return new Response(null, { status: 204 });
    },
  );
  return {
    url: `https://127.0.0.1:${server.addr.port}/events`,
    async until(event: string) {
      await untilSo(() => events.includes(event));
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** The bundle of the commit before this one, in a root; null where there is no history. */
async function addPreviousBundle({ path }: IsolatedRoot): Promise<string | null> {
  const git = async (...args: string[]) =>
    await new Deno.Command("git", { args: ["-C", ROOT, ...args], stderr: "null" }).output().catch(() => null);
  if (!(await git("rev-parse", "--verify", "HEAD~1"))?.success) return null;
  const source = await Deno.makeTempDir();
  try {
    assert((await git("worktree", "add", "--detach", source, "HEAD~1"))?.success);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), { args: ["task", "bundle"], cwd: source })
      .output();
    assert(success, new TextDecoder().decode(stderr));
    await Deno.rename(join(source, "dist/app"), join(path, "previous"));
    return "/previous/main.js";
  } finally {
    await git("worktree", "remove", "--force", source);
  }
}

Deno.test({
  name: "a root with nothing else: dev, serve, text, picture, video with webhook, backup, restore, upgrade",
  ignore: !isWanted,
  async fn(t) {
    const root = await makeIsolatedRoot();
    const { image: { entrypoint } } = root;
    const key = newApiKey();
    const started = async (run: (gateway: IsolatedGateway) => Promise<void>, ...words: string[]) => {
      const gateway = await root.start(words);
      try {
        await run(gateway);
      } finally {
        const { code, log } = await gateway.stop();
        assertEquals(code, 0, log);
      }
    };
    const command = async (...words: string[]) => {
      const { code, stdout, stderr } = await root.run([...entrypoint, ...words]);
      assertEquals(code, 0, stderr);
      return stdout;
    };
    const configure = (name: string, baseUrls: Sandbox["baseUrls"]) =>
      root.addFile(`${name}.yaml`, JSON.stringify(configOf(baseUrls, { key, store: name })));

    const sandbox = await startSandbox({ port: 0 });
    await using receiver = startReceiver();
    try {
      await root.addFile("root.pem", LOOPBACK_ROOT);
      await configure("first", sandbox.baseUrls);
      await configure("second", sandbox.baseUrls);
      await configure("third", sandbox.baseUrls);

      await t.step("dev", async () => {
        await started(
          async ({ address }) => {
            const devKey = await Deno.readTextFile(join(root.data, "data/dev-key"));
            await new Caller(address, devKey).visit(DEV_MODELS);
          },
          ...entrypoint,
          "dev",
        );
      });

      let video = "";
      let balance = "";
      await t.step("serve, and backup of the running gateway", async () => {
        await started(
          async ({ address }) => {
            const caller = new Caller(address, key);
            video = await caller.visit(OWN_MODELS, receiver.url);
            await receiver.until(`video.generation.completed ${video}`);
            await caller.videoBytes(video); // The copy exists, so that the backup has it.
            balance = await caller.balance();
            await command("backup", "copy.tar", "--files", "--config", "first.yaml");
          },
          ...entrypoint,
          "serve",
          "--config",
          "first.yaml",
        );
      });

      await t.step("restore to another place", async () => {
        await command("restore", "copy.tar", "--config", "second.yaml");
        assertMatch(await command("ledger", "verify", "--config", "second.yaml"), /0 differences/);
        await started(
          async ({ address }) => {
            const caller = new Caller(address, key);
            assertEquals(await caller.balance(), balance);
            assert((await caller.videoBytes(video)).length > 1_000);
            await caller.visit(OWN_MODELS);
          },
          ...entrypoint,
          "serve",
          "--config",
          "second.yaml",
        );
      });

      const previous = await addPreviousBundle(root);
      if (previous === null) console.log("skipped: the upgrade, since this is no clone with a commit before this one");
      await t.step({
        name: "upgrade of a store that the previous commit wrote",
        ignore: previous === null,
        async fn() {
          let before = { video: "", balance: "" };
          await started(
            async ({ address }) => {
              const caller = new Caller(address, key);
              before = { video: await caller.visit(OWN_MODELS), balance: await caller.balance() };
            },
            ...entrypoint.with(-1, previous ?? ""),
            "serve",
            "--config",
            "third.yaml",
          );
          await started(
            async ({ address }) => {
              const caller = new Caller(address, key);
              assertEquals(await caller.balance(), before.balance);
              assert((await caller.videoBytes(before.video)).length > 1_000);
              await caller.visit(OWN_MODELS, receiver.url);
            },
            ...entrypoint,
            "serve",
            "--config",
            "third.yaml",
          );
          assertMatch(await command("ledger", "verify", "--config", "third.yaml"), /0 differences/);
        },
      });
    } finally {
      await sandbox.stop();
      await root.remove();
    }
  },
});
