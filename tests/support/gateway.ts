import type { RunningApp } from "../../src/entry/app/app.ts";
import type { ServiceOptions } from "../../src/entry/app/opening/services.ts";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { openConfigSource } from "../../src/config/load_config.ts";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { jsonLog, type LogLevel } from "../../src/platform/lib/basics/log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/mod.ts";
import { startApps, TEST_ISOLATES } from "./apps.ts";
import { freeUnlessPriced } from "./free_model.ts";

/** A gateway in front of the sandbox vendor, for tests. */
export interface TestGateway {
  readonly app: RunningApp;
  readonly sandbox: Sandbox;
  /** `http://127.0.0.1:<port>`. */
  readonly address: string;
  /** Key of the account `demo`. */
  readonly key: string;
  readonly adminKey: string;
  /** Every line that was logged, at level debug. */
  readonly logLines: readonly string[];
  stop(): Promise<void>;
}

/** Options of a test. */
export interface TestGatewayOptions {
  /** Balance of the account `demo` in USD. Default `25.00`. */
  readonly balance?: string;
  /** Sections that replace those of the default configuration or are added to it. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Default: 1. */
  readonly isolates?: number;
  /** The module that isolates run. Default: that of the gateway. */
  readonly isolateEntry?: URL;
  /** The heap limit of an isolate. Default: that of the gateway. */
  readonly isolateHeapMegabytes?: number;
  /** Whether requests are counted for the metrics. Default: true. */
  readonly countsRequests?: boolean;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly logLevel?: LogLevel;
  /** Default `kv::memory:`. */
  readonly store?: string;
  /** How the store is shared with other gateways. */
  readonly sharing?: ServiceOptions["sharing"];
  /** The environment variables of the configuration. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the configuration can change while the gateway runs. Default: false. */
  readonly isLive?: boolean;
  /** Whether there is one provider, `openai`, with its built-in models in the place of those of the test. */
  readonly isBuiltIn?: boolean;
}

/** Prices with simple sums: a millionth of a dollar for an input token, two for an output token. */
export const PRICING = {
  prompt: "0.000001",
  completion: "0.000002",
  input_cache_read: "0.0000001",
  input_cache_write: "0.00000125",
};

/** Starts a gateway with three sandbox providers and the models `sandbox/{chat,messages,content,any}-1`. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const sandbox = await startSandbox({ port: 0 });
  const key = newApiKey();
  const adminKey = newApiKey();
  const logLines: string[] = [];
  const path = options.isLive ? "/etc/switchyard/test.json" : "test.json";
  const text = JSON.stringify(testTree(sandbox, key, adminKey, options));
  const source = openConfigSource({ path, env: (name) => options.env?.[name], readFile: () => text });
  const loaded = source.load({});
  const log = jsonLog(options.logLevel ?? "debug", (line) => void logLines.push(line));
  const { clock, random, sharing, isolateEntry, isolateHeapMegabytes, countsRequests = true } = options;
  const { app, address, stop } = await startApps({
    config: loaded.config,
    log,
    countsRequests,
    ...(options.isLive
      ? { live: { source, loaded, setLogLevel: (level) => void (log.level = level) } }
      : { tree: loaded.tree }),
    ...(clock && { clock }),
    ...(random && { random }),
    ...(sharing && { sharing }),
    ...(isolateEntry && { isolateEntry }),
    ...(isolateHeapMegabytes && { isolateHeapMegabytes }),
  });
  return {
    app,
    sandbox,
    address,
    key,
    adminKey,
    logLines,
    async stop() {
      await stop();
      await sandbox.stop();
    },
  };
}

function testTree(
  sandbox: Sandbox,
  key: string,
  adminKey: string,
  options: TestGatewayOptions,
): Record<string, unknown> {
  const { openai, anthropic, google } = sandbox.baseUrls;
  const { models } = options.config ?? {};
  const builtIn = { openai: { kind: "openai", base_url: openai, api_key: "sandbox-key-openai", quirks: [] } };
  return {
    server: { port: 0, admin_key: adminKey, shutdown_grace: 1, isolates: options.isolates ?? TEST_ISOLATES },
    store: options.store ?? "kv::memory:",
    accounts: [{ id: "demo", balance: options.balance ?? "25.00", keys: [key] }],
    providers: {
      "sandbox-openai": {
        kind: "openai",
        base_url: openai,
        api_key: "sandbox-key-openai",
        speaks: "both",
        quirks: [],
      },
      "sandbox-anthropic": { kind: "anthropic", base_url: anthropic, api_key: "sandbox-key-anthropic" },
      "sandbox-google": { kind: "google", base_url: google, api_key: "sandbox-key-google" },
    },
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      textModel("sandbox/content-1", ["sandbox-google"]),
      textModel("sandbox/any-1", ["sandbox-openai", "sandbox-anthropic", "sandbox-google"]),
    ],
    egress: { allow: ["127.0.0.1/32"] },
    ...options.config,
    ...options.isBuiltIn && { providers: builtIn, models: undefined },
    ...Array.isArray(models) && { models: models.map(freeUnlessPriced) },
  };
}

/** A priced text model served by these providers with equal weight. */
export function textModel(id: string, providers: readonly string[]): Record<string, unknown> {
  return {
    id,
    context_length: 128_000,
    top_provider: { max_completion_tokens: 16_384 },
    pricing: PRICING,
    architecture: { input_modalities: ["text", "image"] },
    serves: providers.map((provider) => ({ provider })),
  };
}
