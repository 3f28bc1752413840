import { startApps } from "../../support/apps.ts";
import type { RunningApp } from "../../../src/entry/app/app.ts";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { readConfig } from "../../../src/config/config.ts";
import { jsonLog, type LogFields } from "../../../src/platform/lib/basics/log.ts";
import { startSandbox } from "../../../src/sandbox/mod.ts";
import { ConsoleBrowser } from "../../console/browser.ts";
import { imageModel } from "../../images/image_gateway.ts";
import { textModel } from "../../support/gateway.ts";
import { eventually } from "../../support/account_money.ts";
import { type StreamKind, streamKinds } from "./streams.ts";

/** A line of the log. */
export type LogLine = LogFields & { readonly event: string };

/** A gateway that sends every kind of stream. */
export interface ResetGateway {
  readonly app: RunningApp;
  readonly port: number;
  readonly key: string;
  readonly adminKey: string;
  readonly kinds: readonly StreamKind[];
  /** The lines that were logged since the start of the test. */
  lines(): readonly LogLine[];
  /** What the metrics say. */
  openStreams(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the gateway with a stored file, a video task that does not end, and a stream whose events are kept. */
export async function startResetGateway(isolates: number, random: () => number): Promise<ResetGateway> {
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const folder = await Deno.makeTempDir();
  const { openai, anthropic, google, ark } = sandbox.baseUrls;
  const tree = {
    server: { port: 0, admin_key: adminKey, shutdown_grace: 1, isolates },
    // The charge of a store on a disk takes longer than one in memory, and callers leave during it.
    store: `kv:${folder}/store.db`,
    files: `${folder}/files`,
    accounts: [{ id: "demo", balance: "10000.00", keys: [key] }],
    providers: {
      "sandbox-openai": { kind: "openai", base_url: openai, api_key: "sandbox-key-openai", speaks: "both", quirks: [] },
      "sandbox-anthropic": { kind: "anthropic", base_url: anthropic, api_key: "sandbox-key-anthropic" },
      "sandbox-google": { kind: "google", base_url: google, api_key: "sandbox-key-google" },
      ark: { kind: "ark", base_url: ark, api_key: "sandbox-key-ark" },
    },
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      textModel("sandbox/content-1", ["sandbox-google"]),
      imageModel("sandbox/painter-1", { series: "default", edits: true }, ["sandbox-openai"], {
        serves: [{ provider: "sandbox-openai", model: "gpt-image-1.5" }],
      }),
      {
        id: "sandbox/speech-1",
        pricing: { character: "0.000015" },
        speech: {},
        serves: [{ provider: "sandbox-openai" }],
      },
      {
        id: "sandbox/video-1",
        video: {
          duration: { min: 2, max: 12, default: 5 },
          modes: ["text2video"],
          price_per_second: { "720p": "0.10" },
        },
        serves: [{ provider: "ark", model: "seedance-sandbox" }],
      },
    ],
    limits: { large_body: 4_000, vendor_polling: { first: 0.02, least: 0.02, most: 0.05, per_second: 1_000 } },
    egress: { allow: ["127.0.0.1/32"] },
  };
  const written: string[] = [];
  const { app, address, stop } = await startApps({
    config: readConfig(JSON.stringify(tree), "test.json", () => undefined),
    log: jsonLog("debug", (line) => void written.push(line)),
    countsRequests: true,
  });
  const send = async (method: string, path: string, body?: unknown, fields: Record<string, string> = {}) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...fields };
    const response = await fetch(address + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { headers: response.headers, json: text.startsWith("{") ? JSON.parse(text) : null };
  };
  const video = async (prompt: string) =>
    (await send("POST", "/v1/videos", { model: "sandbox/video-1", prompt })).json.id as string;
  const done = await video("A fox [[queue 0]] [[run 0]]");
  const file = await eventually(async () => {
    const { json } = await send("GET", `/v1/videos/${done}`);
    return json.status === "completed" && json.mirror_urls?.[0] as string;
  });
  await eventually(async () => {
    const response = await fetch(file);
    await response.body?.cancel();
    return response.headers.has("etag");
  });
  const task = await video("Later [[queue 600000]]");
  const resumable = await send(
    "POST",
    "/v1/chat/completions",
    { model: "sandbox/chat-1", stream: true, messages: [{ role: "user", content: "Hello [[words 40]]" }] },
    { "x-service-resume": "true" },
  );
  const operator = new ConsoleBrowser(app.adminAddress);
  await operator.signIn(adminKey);
  const url = new URL(address);
  const { pathname, search } = new URL(file);
  return {
    app,
    port: Number(url.port),
    key,
    adminKey,
    kinds: streamKinds({
      host: url.host,
      key,
      adminKey,
      cookie: operator.cookie,
      file: pathname + search,
      task,
      kept: resumable.headers.get("x-service-resume") ?? "",
      random,
    }),
    lines: () => written.map((line) => JSON.parse(line)),
    async openStreams() {
      const response = await fetch(`${address}/metrics`, { headers: { authorization: `Bearer ${adminKey}` } });
      return Number(/^switchyard_open_streams (\d+)$/m.exec(await response.text())?.[1]);
    },
    async stop() {
      await send("DELETE", `/v1/videos/${task}`).catch(() => {}); // its thread has ended
      await stop();
      await sandbox.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
