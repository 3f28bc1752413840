import type { RunningApp } from "../../src/entry/app/app.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { openConfigSource } from "../../src/config/load_config.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { jsonLog, type LeveledLog } from "../../src/platform/lib/basics/log.ts";
import { startCheckedApp, TEST_ISOLATES } from "./apps.ts";

/** A gateway whose configuration file is a text of the test. */
export interface LiveTestGateway {
  readonly app: RunningApp;
  readonly address: string;
  /** Key of the account `demo`. */
  readonly key: string;
  readonly adminKey: string;
  readonly log: LeveledLog;
  /** The environment variables of the configuration. */
  readonly env: Record<string, string>;
  readonly logLines: readonly string[];
  /** Replaces sections of the file. */
  write(sections: Readonly<Record<string, unknown>>): void;
  /** Replaces the whole text of the file. */
  writeText(text: string): void;
  /** Calls the admin API. */
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Sends a chat request and gives its status and answer. */
  chat(model: string, key?: string): Promise<{ status: number; body: Record<string, unknown> }>;
  stop(): Promise<void>;
}

/** Options of a test. */
export interface LiveGatewayOptions {
  /** Sections of the file, beside `server` and the account `demo`. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** Default `kv::memory:`. */
  readonly store?: string;
  /** Default: 1, or what the environment sets. */
  readonly isolates?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: a new one. */
  readonly adminKey?: string;
}

/** Starts a gateway with a file that the test can change. */
export async function startLiveGateway(options: LiveGatewayOptions): Promise<LiveTestGateway> {
  const { adminKey = newApiKey() } = options;
  const key = newApiKey();
  const env: Record<string, string> = {};
  let sections: Readonly<Record<string, unknown>> = {
    server: { port: 0, admin_key: adminKey, shutdown_grace: 1, isolates: options.isolates ?? TEST_ISOLATES },
    store: options.store ?? "kv::memory:",
    accounts: [{ id: "demo", balance: "25.00", keys: [key] }],
    ...options.sections,
  };
  let text = JSON.stringify(sections);
  const logLines: string[] = [];
  const log = jsonLog("info", (line) => void logLines.push(line));
  const source = openConfigSource({ path: "live.json", env: (name) => env[name], readFile: () => text });
  const loaded = source.load({});
  const live = { source, loaded, setLogLevel: (level: LeveledLog["level"]) => void (log.level = level) };
  const app = await startCheckedApp({ config: loaded.config, log, live, ...options.clock && { clock: options.clock } });
  const call = async (method: string, path: string, auth: string, body?: unknown) => {
    const init = { method, headers: { authorization: `Bearer ${auth}`, "content-type": "application/json" } };
    const response = await fetch(
      app.address + path,
      body === undefined ? init : { ...init, body: JSON.stringify(body) },
    );
    return { status: response.status, body: await response.json() };
  };
  return {
    app,
    address: app.address,
    key,
    adminKey,
    log,
    env,
    logLines,
    write(changed) {
      sections = { ...sections, ...changed };
      text = JSON.stringify(sections);
    },
    writeText: (changed) => void (text = changed),
    admin: (method, path, body) => call(method, `/admin/v1${path}`, adminKey, body),
    chat: (model, own = key) =>
      call("POST", "/v1/chat/completions", own, { model, messages: [{ role: "user", content: "hi" }] }),
    stop: () => app.stop(),
  };
}
