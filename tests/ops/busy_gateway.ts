import { startApp } from "../../src/entry/app/app.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { devConfig } from "../../src/config/dev_config.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { startSandbox } from "../../src/sandbox/mod.ts";

/** A gateway with simulated vendors whose traffic makes every metric appear. */
export interface BusyGateway {
  /** `127.0.0.1:<port>`. */
  readonly target: string;
  readonly adminKey: string;
  /** Sends a few requests of every kind: answers, streams, errors, fallbacks, images. */
  work(): Promise<void>;
  /** The text of `GET /metrics`. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the same as `switchyard dev`, with an admin key, a quota and limits of providers, and creates a video that is
 * not finished.
 */
export async function startBusyGateway(): Promise<BusyGateway> {
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const files = await Deno.makeTempDir();
  const overrides: Record<string, string> = {
    PORT: "0",
    SWITCHYARD_STORE: "kv::memory:",
    SWITCHYARD_FILES: files,
    SWITCHYARD_ADMIN_KEY: adminKey,
  };
  const { config } = devConfig({ sandbox: sandbox.baseUrls, key, env: (name) => overrides[name] });
  const limits = { ...config.limits, filesQuotaBytes: 1_000_000_000 };
  const providers = Object.fromEntries(
    Object.entries(config.providers).map(([name, each]) => [name, { ...each, limits: { rpm: 1_000, maxWaitMs: 100 } }]),
  );
  const app = await startApp({ config: { ...config, limits, providers }, log: silentLog });

  const post = async (path: string, body: Record<string, unknown>): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(app.address + path, { method: "POST", headers, body: JSON.stringify(body) });
    await response.body?.pipeTo(new WritableStream());
  };
  const chat = (content: string, fields: Record<string, unknown> = {}) =>
    post("/v1/chat/completions", { model: "sandbox/chat-1", messages: [{ role: "user", content }], ...fields });

  await post("/v1/videos", { model: "sandbox/video-1", prompt: "A lighthouse [[queue 600000]]" });
  return {
    target: app.address.slice("http://".length),
    adminKey,
    async work() {
      await Promise.all([
        chat("hello"),
        chat("hello", { stream: true }),
        chat("hello", { stream: true, model: "sandbox/messages-1", logit_bias: { "1": 1 } }),
        chat("hello [[cut 3]]", { stream: true }),
        chat("hello", { model: "no/such" }),
        chat("[[openai: fail 503]] hello", { model: "sandbox/any-1" }),
        post("/v1/images/generations", { model: "sandbox/image-reference-1", prompt: "A lighthouse", quality: "high" }),
      ]);
    },
    async metrics() {
      const response = await fetch(`${app.address}/metrics`, { headers: { authorization: `Bearer ${adminKey}` } });
      return await response.text();
    },
    async stop() {
      await app.stop();
      await sandbox.stop();
      await Deno.remove(files, { recursive: true });
    },
  };
}
