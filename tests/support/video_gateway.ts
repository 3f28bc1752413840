import type { RunningApp } from "../../src/entry/app/app.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { jsonLog } from "../../src/platform/lib/basics/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import type { LoggedRequest } from "../../src/sandbox/request_log.ts";
import { startApps, TEST_ISOLATES } from "./apps.ts";
import { callerOf, type GatewayCall } from "./gateway_call.ts";
import { freeUnlessPriced } from "./free_model.ts";
import { stateOf } from "./patience.ts";

/** A gateway in front of the sandbox's video vendor, for tests. */
export interface VideoGateway {
  readonly app: RunningApp;
  readonly sandbox: Sandbox;
  readonly address: string;
  /** Key of the account `demo`. */
  readonly key: string;
  /** A second key of the account `demo`. */
  readonly otherKey: string;
  readonly adminKey: string;
  readonly filesFolder: string;
  readonly logLines: readonly string[];
  /** Sends a request, with the first key by default. */
  readonly call: GatewayCall;
  /** Creates a video, expects 202, and returns its id. */
  create(fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Polls until the task is in one of these states. */
  until(id: string, ...states: string[]): Promise<Record<string, unknown>>;
  /** `available` and `held` of the account, from the admin API. */
  money(): Promise<{ readonly balance: string; readonly held: string }>;
  /** The creation requests that the vendor received. */
  created(): readonly LoggedRequest[];
  stop(): Promise<void>;
}

/** Options of a test. */
export interface VideoGatewayOptions {
  /** USD. Default `25.00`. */
  readonly balance?: string;
  /** Sections that replace those of the default configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Fields that are added to the default limits. */
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Providers and models that are added to the default ones. */
  readonly added?: { readonly providers: Readonly<Record<string, unknown>>; readonly models: readonly unknown[] };
  /** Default `kv::memory:`. */
  readonly store?: string;
  /** Default the machine's. */
  readonly clock?: Clock;
  /** The keys of the account, as those of an earlier gateway on the store. Default: new ones. */
  readonly keys?: readonly [key: string, otherKey: string];
}

/** Every video mode. */
export const ALL_MODES = ["text2video", "img2video", "img2video_end", "imgref2video", "mixref2video"];

/** A valid create body. */
export const VALID_BODY = { model: "sandbox/video-1", prompt: "A lighthouse at dusk [[queue 0]] [[run 0]]" };

/**
 * Starts a gateway with the models `sandbox/video-1` (all modes), `video-2` (text only) and `chat-1`. Each further
 * simulated video vendor has a model of its name, such as `sandbox/video-openrouter`.
 */
export async function startVideoGateway(options: VideoGatewayOptions = {}): Promise<VideoGateway> {
  const seen: LoggedRequest[] = [];
  const sandbox = await startSandbox({ port: 0, onRequest: (request) => void seen.push(request) });
  const [key, otherKey] = options.keys ?? [newApiKey(), newApiKey()];
  const adminKey = newApiKey();
  const filesFolder = await Deno.makeTempDir();
  const logLines: string[] = [];
  const tree = treeOf(sandbox, [key, otherKey], adminKey, filesFolder, options);
  const config = readConfig(JSON.stringify(tree), "test.json", () => undefined);
  const { app, address, stop } = await startApps({
    config,
    ...(options.clock && { clock: options.clock }),
    log: jsonLog("debug", (line) => void logLines.push(line)),
  });

  const call = callerOf(address, { authorization: `Bearer ${key}` });

  return {
    app,
    sandbox,
    address,
    key,
    otherKey,
    adminKey,
    filesFolder,
    logLines,
    call,
    async create(fields = {}) {
      const { status, json, text } = await call("POST", "/v1/videos", { ...VALID_BODY, ...fields });
      if (status !== 202) throw new Error(`The create was answered ${status}: ${text}`);
      return json.id;
    },
    async until(id, ...states) {
      const read = async () => (await call("GET", `/v1/videos/${id}`)).json;
      return await stateOf(`${id} is ${states.join(" or ")}`, read, ({ status }) => states.includes(status));
    },
    async money() {
      const { json } = await call("GET", "/admin/v1/accounts/demo", undefined, { authorization: `Bearer ${adminKey}` });
      return { balance: json.balance, held: json.held };
    },
    created: () => seen.filter(({ method, path }) => method === "POST" && path.endsWith("/contents/generations/tasks")),
    async stop() {
      await stop();
      await sandbox.stop();
      await Deno.remove(filesFolder, { recursive: true });
    },
  };
}

/** An address on loopback that refuses connections. */
export function closedOrigin(): string {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}

function treeOf(
  sandbox: Sandbox,
  keys: readonly string[],
  adminKey: string,
  files: string,
  options: VideoGatewayOptions,
): Record<string, unknown> {
  const ark = { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark" };
  return {
    server: { port: 0, admin_key: adminKey, shutdown_grace: 1, isolates: TEST_ISOLATES },
    store: options.store ?? "kv::memory:",
    files,
    accounts: [{ id: "demo", balance: options.balance ?? "25.00", keys }],
    providers: {
      ark,
      "ark-two": ark,
      "ark-bad": { ...ark, api_key: "bad-key" },
      kling: { kind: "kling", base_url: sandbox.baseUrls.kling, api_key: "access", secret_key: "sandbox-key-kling" },
      openrouter: { kind: "openai", base_url: sandbox.baseUrls.openrouter, api_key: "sandbox-key-openrouter" },
      fal: { kind: "fal", base_url: sandbox.baseUrls.fal, api_key: "sandbox-key-fal" },
      replicate: { kind: "replicate", base_url: sandbox.baseUrls.replicate, api_key: "sandbox-key-replicate" },
      runway: { kind: "runway", base_url: sandbox.baseUrls.runway, api_key: "sandbox-key-runway" },
      vidu: { kind: "vidu", base_url: sandbox.baseUrls.vidu, api_key: "sandbox-key-vidu" },
      luma: { kind: "luma", base_url: sandbox.baseUrls.luma, api_key: "sandbox-key-luma" },
      "sandbox-openai": { kind: "openai", base_url: sandbox.baseUrls.openai, api_key: "sandbox-key-openai" },
      ...options.added?.providers,
    },
    models: [
      videoModel("sandbox/video-1", ["ark"], { modes: ALL_MODES, price_per_second: PRICES }),
      videoModel("sandbox/video-2", ["ark"], { modes: ["text2video"], price_per_second: PRICES }),
      videoModel("sandbox/video-free", ["ark"], { modes: ["text2video"], price_per_second: { default: "0" } }),
      videoModel("sandbox/video-auto", ["ark"], {
        modes: ALL_MODES,
        price_per_second: PRICES,
        duration: { min: 2, max: 12, default: 5, auto: true },
      }),
      videoModel("sandbox/video-bad", ["ark-bad"], { modes: ["text2video"], price_per_second: PRICES }),
      videoModel("sandbox/video-kling", ["kling"], { modes: ALL_MODES, price_per_second: PRICES }),
      videoModel("sandbox/video-openrouter", ["openrouter"], { modes: ALL_MODES, price_per_second: PRICES }),
      videoModel("sandbox/video-vidu", ["vidu"], { modes: ALL_MODES, price_per_second: PRICES }),
      videoModel("sandbox/video-luma", ["luma"], { modes: ALL_MODES, price_per_second: PRICES }),
      videoModel("sandbox/video-runway", ["runway"], { modes: ALL_MODES, price_per_second: PRICES }),
      {
        ...videoModel("sandbox/video-fal", [], { modes: ALL_MODES, price_per_second: PRICES }),
        serves: [{ provider: "fal", model: "fal-ai/bytedance/seedance/v1.5/pro" }],
      },
      {
        ...videoModel("sandbox/video-replicate", [], { modes: ALL_MODES, price_per_second: PRICES }),
        serves: [{ provider: "replicate", model: "bytedance/seedance-2.0" }],
      },
      {
        ...videoModel("sandbox/video-any", [], { modes: ["text2video"], price_per_second: PRICES }),
        serves: [{ provider: "ark-bad", weight: 1 }, { provider: "ark-two", weight: 0 }],
      },
      { id: "sandbox/chat-1", serves: [{ provider: "sandbox-openai" }] },
      ...(options.added?.models ?? []).map(freeUnlessPriced),
    ],
    limits: {
      vendor_polling: { first: 0.02, least: 0.02, most: 0.05, per_second: 1_000 },
      video_polling: UNLIMITED,
      reads: UNLIMITED,
      dry_runs: UNLIMITED,
      ...options.limits,
    },
    egress: { allow: ["127.0.0.1/32"] },
    ...options.config,
  };
}

const UNLIMITED = { requests: 100_000, per: 1, burst: 10_000 };
const PRICES = { "480p": "0.05", "720p": "0.10", "1080p": "0.30" };

function videoModel(id: string, providers: readonly string[], video: Record<string, unknown>): Record<string, unknown> {
  return {
    id,
    video: { duration: { min: 2, max: 12, default: 5 }, ...video },
    serves: providers.map((provider) => ({ provider, model: "seedance-sandbox" })),
  };
}
