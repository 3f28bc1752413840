import { GoogleGenAI } from "@google/genai";
import type { RunningApp } from "../../src/entry/app/app.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { readConfig } from "../../src/config/config.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import type { LoggedRequest } from "../../src/sandbox/request_log.ts";
import { arePaired, startApps, TEST_ISOLATES } from "../support/apps.ts";
import { PRICING, textModel } from "../support/gateway.ts";
import { type AccountMoney, accountMoney } from "../support/account_money.ts";
import { ShiftedClock } from "./shifted_clock.ts";
import { type Answer, callerOf, type GatewayCall } from "../support/gateway_call.ts";
import { freeUnlessPriced } from "../support/free_model.ts";

/** A gateway in front of the sandbox's vendors, for tests of caches. */
export interface CacheGateway {
  readonly app: RunningApp;
  readonly sandbox: Sandbox;
  readonly address: string;
  /** Key of the account `demo`. */
  readonly key: string;
  /** A second key of the account `demo`. */
  readonly otherKey: string;
  readonly adminKey: string;
  /** The clock of vendors, and of the gateway unless two of them share a database. */
  readonly clock: ShiftedClock;
  readonly filesFolder: string;
  readonly purse: AccountMoney;
  readonly logLines: readonly string[];
  /** Sends a request, with the first key by default. */
  readonly call: GatewayCall;
  /** Creates a cache, expects 200, and returns its name. */
  create(fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Sends a request with a cache to a model. */
  send(model: string, cachedContent: string, fields?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** The vendor's official client. */
  client(key?: string): GoogleGenAI;
  /** The requests to vendors whose path has this part. */
  seen(part: string): readonly LoggedRequest[];
  /** Names of the files with cached contents. */
  files(): string[];
  stop(): Promise<void>;
}

/** Options of a test. */
export interface CacheGatewayOptions {
  /** USD. Default `25.00`. */
  readonly balance?: string;
  /** Models in addition to the default ones. */
  readonly models?: readonly Record<string, unknown>[];
  /** Providers in addition to the default ones. */
  readonly providers?: (sandbox: Sandbox) => Readonly<Record<string, unknown>>;
  readonly random?: () => number;
  /** A section of the configuration. */
  readonly limits?: Readonly<Record<string, unknown>>;
  /** A section of the configuration. */
  readonly retention?: Readonly<Record<string, unknown>>;
}

/** The default contents of a cache: a thousand words, and a reply of the model. */
export const CONTENTS = [
  { role: "user", parts: [{ text: "The sky is blue. ".repeat(250).trim() }] },
  { role: "model", parts: [{ text: "Noted" }] },
];

/** Tokens of {@linkcode CONTENTS} by the sandbox's count, which counts words. */
export const CONTENT_TOKENS = 1_001;

/** One model of each family. */
export const MODELS = ["sandbox/content-1", "sandbox/chat-1", "sandbox/messages-1"];

/** Starts the gateway with a store in memory. */
export async function startCacheGateway(options: CacheGatewayOptions = {}): Promise<CacheGateway> {
  const clock = new ShiftedClock();
  const seen: LoggedRequest[] = [];
  const sandbox = await startSandbox({ port: 0, clock, onRequest: (request) => void seen.push(request) });
  const [key, otherKey, adminKey] = [newApiKey(), newApiKey(), newApiKey()];
  const filesFolder = await Deno.makeTempDir();
  const logLines: string[] = [];
  const tree = treeOf(sandbox, [key, otherKey], adminKey, filesFolder, options);
  const config = readConfig(JSON.stringify(tree), "test.json", () => undefined);
  const log = jsonLog("debug", (line) => void logLines.push(line));
  const { random } = options;
  const { app, address, stop } = await startApps({
    config,
    log,
    // Gateways that share a database have one time, the machine's.
    ...(!arePaired && { clock }),
    ...(random && { random }),
  });

  const call = callerOf(address, { "x-content-api-key": key });

  return {
    app,
    sandbox,
    address,
    key,
    otherKey,
    adminKey,
    clock,
    filesFolder,
    logLines,
    purse: accountMoney({ address, adminKey }),
    call,
    async create(fields = {}) {
      const body = { model: "sandbox/chat-1", contents: CONTENTS, ...fields };
      const { status, json, text } = await call("POST", CACHES_PATH, body);
      if (status !== 200) throw new Error(`The create was answered ${status}: ${text}`);
      return json.name;
    },
    send: (model, cachedContent, fields = {}) =>
      call("POST", `/gencompat/v1beta/models/${model}:generateContent`, {
        contents: [{ role: "user", parts: [{ text: "Which colour?" }] }],
        cachedContent,
        ...fields,
      }),
    client: (apiKey = key) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${address}/gencompat` } }),
    seen: (part) => seen.filter(({ path }) => path.includes(part)),
    files: () => filesIn(`${filesFolder}/caches`),
    async stop() {
      await stop();
      await sandbox.stop();
      clock.stop();
      await Deno.remove(filesFolder, { recursive: true });
    },
  };
}

function treeOf(
  sandbox: Sandbox,
  keys: readonly string[],
  adminKey: string,
  files: string,
  { balance = "25.00", models = [], providers = () => ({}), limits = {}, retention = {} }: CacheGatewayOptions,
): Record<string, unknown> {
  const { openai, anthropic, google } = sandbox.baseUrls;
  const openaiKind = { kind: "openai", base_url: openai, api_key: "sandbox-key-openai" };
  return {
    server: { port: 0, admin_key: adminKey, shutdown_grace: 1, isolates: TEST_ISOLATES },
    store: "kv::memory:",
    files,
    accounts: [{ id: "demo", balance, keys }],
    providers: {
      "sandbox-openai": { ...openaiKind, speaks: "both" },
      "sandbox-chat": { ...openaiKind, speaks: "chat" },
      "sandbox-anthropic": { kind: "anthropic", base_url: anthropic, api_key: "sandbox-key-anthropic" },
      "sandbox-google": { kind: "google", base_url: google, api_key: "sandbox-key-google" },
      ...providers(sandbox),
    },
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/plain-1", ["sandbox-chat"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      textModel("sandbox/content-1", ["sandbox-google"]),
      textModel("sandbox/any-1", ["sandbox-openai", "sandbox-anthropic", "sandbox-google"]),
      {
        ...textModel("sandbox/hourly-1", ["sandbox-anthropic"]),
        pricing: { ...PRICING, input_cache_write_1h: "0.000002" },
      },
      { id: "sandbox/free-1", serves: [{ provider: "sandbox-openai" }] },
      ...models.map(freeUnlessPriced),
    ],
    egress: { allow: ["127.0.0.1/32"] },
    limits,
    retention,
  };
}

function filesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The path where caches are created and listed. */
export const CACHES_PATH = "/gencompat/v1beta/cachedContents";

/** Runs a test with a gateway of its own. */
export function inGateway(
  name: string,
  test: (gateway: CacheGateway) => Promise<void>,
  options: CacheGatewayOptions = {},
): void {
  Deno.test({
    name,
    // The clients keep their connections open.
    sanitizeResources: false,
    sanitizeOps: false,
    async fn() {
      const gateway = await startCacheGateway(options);
      try {
        await test(gateway);
      } finally {
        await gateway.stop();
      }
    },
  });
}

/** The number of caches in the store, in any state. */
export async function cacheRecords({ app }: CacheGateway): Promise<number> {
  return (await app.store.scan(["cache", "content"], { limit: 100 })).length;
}

/** The list of caches that the simulated vendor has under the gateway's key. */
// deno-lint-ignore no-explicit-any -- a test looks wherever it likes
export async function vendorCaches({ sandbox }: CacheGateway): Promise<any> {
  const response = await fetch(`${sandbox.baseUrls.google}/v1beta/cachedContents?key=sandbox-key-google`);
  return await response.json();
}
