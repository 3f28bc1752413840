import { join } from "node:path";
import { type RunningApp, startApp } from "../../../src/entry/app/app.ts";
import { newApiKey } from "../../../src/money/billing/keys/api_key.ts";
import { environmentOf } from "../../../src/entry/cli/environment.ts";
import { openConfigSource } from "../../../src/config/load_config.ts";
import type { Clock } from "../../../src/platform/lib/basics/clock.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/mod.ts";
import { jsonLog, type LeveledLog } from "../../../src/platform/lib/basics/log.ts";
import { TEST_ISOLATES } from "../../support/apps.ts";
import { LOOPBACK_ROOT } from "../../support/loopback_certificate.ts";
import { closedOrigin } from "../../support/video_gateway.ts";
import { type SampleVendor, startSampleVendor } from "./sample_vendor.ts";
import type { Scenario, Session, Stage } from "./scenario.ts";

/** A gateway whose configuration a page describes. */
export interface OwnStage extends Stage {
  readonly vendor: SampleVendor;
  /** The API key of the account `acme`. */
  readonly key: string;
  /** Writes the configuration file again with these sections in place of its own. */
  writeConfig(sections: Readonly<Record<string, unknown>>): Promise<void>;
  /** Stops the gateway, but not its vendors. */
  stopGateway(): Promise<void>;
}

/** Options of a stage. */
export interface OwnStageOptions {
  /** Sections that replace those of the default. */
  readonly sections?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** A part of a page that is run on a gateway of its own. */
export interface OwnScenario extends Scenario<OwnStage> {
  /** Options of its gateway. */
  readonly options?: OwnStageOptions;
}

/** A session on such a gateway. */
export type OwnSession = Session<OwnStage>;

/**
 * Starts a gateway with the configuration `switchyard.yaml` in a new folder, with the vendors `openai` and `azure` and
 * the accounts `acme` and `demo`.
 */
export async function startOwnStage({ sections: own = {}, clock, random }: OwnStageOptions = {}): Promise<OwnStage> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const vendor = startSampleVendor();
  const sandbox = await startSandbox({ port: 0 });
  const [key, adminKey] = [newApiKey(), newApiKey()];
  const path = join(folder, "switchyard.yaml");
  // Threads have the real clock and their own random numbers.
  const isolates = clock || random ? 1 : TEST_ISOLATES;
  let sections = { ...sectionsOf({ folder, vendor, sandbox, key, adminKey, isolates }), ...own };
  const writeConfig = async (changed: Readonly<Record<string, unknown>>) => {
    sections = { ...sections, ...changed };
    await Deno.writeTextFile(path, JSON.stringify(sections, null, 2));
  };
  await writeConfig({});
  await Deno.writeTextFile(join(folder, "root.pem"), LOOPBACK_ROOT);
  const start = async (): Promise<RunningApp> => {
    const log = jsonLog("error", () => {});
    const source = openConfigSource({ path, env: environmentOf(path) });
    const loaded = source.load({});
    const live = { source, loaded, setLogLevel: (level: LeveledLog["level"]) => void (log.level = level) };
    return await startApp({ config: loaded.config, log, live, ...clock && { clock }, ...random && { random } });
  };
  let app: RunningApp | null = await start();
  const { address } = app;
  const stopGateway = async () => {
    await app?.stop();
    app = null;
  };
  return {
    address,
    adminKey,
    folder,
    variables: { SWITCHYARD_KEY: key, SWITCHYARD_ADMIN_KEY: adminKey },
    vendor,
    key,
    writeConfig,
    stopGateway,
    async stop() {
      await stopGateway();
      await vendor.stop();
      await sandbox.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

interface Parts {
  readonly folder: string;
  readonly vendor: SampleVendor;
  readonly sandbox: Sandbox;
  readonly key: string;
  readonly adminKey: string;
  /** The setting of the server. */
  readonly isolates: number;
}

/** A model of the simulated vendor. */
export const VIDEO_MODEL = {
  id: "sandbox/video-1",
  video: { modes: ["text2video"], price_per_second: { default: "0.10" } },
  serves: [{ provider: "ark", model: "seedance-sandbox" }],
};

/** A model of these providers. Its prices make simple sums. */
export function modelOf(id: string, ...providers: readonly string[]): Record<string, unknown> {
  return {
    id,
    context_length: 16_000,
    pricing: { prompt: "0.000001", completion: "0.000002" },
    serves: providers.map((provider) => ({ provider })),
  };
}

function sectionsOf({ folder, vendor, sandbox, key, adminKey, isolates }: Parts): Record<string, unknown> {
  return {
    server: { port: Number(new URL(closedOrigin()).port), admin_key: adminKey, shutdown_grace: 1, isolates },
    store: `kv:${folder}/data/switchyard.db`,
    files: `${folder}/data/files`,
    accounts: [{ id: "demo", balance: "25.00" }, { id: "acme", balance: "25.00", keys: [key] }],
    providers: {
      openai: vendor.providerWith(vendor.key),
      azure: vendor.providerWith(vendor.key),
      ark: { kind: "ark", base_url: sandbox.baseUrls.ark, api_key: "sandbox-key-ark" },
    },
    models: [
      modelOf("openai/gpt-5.5", "openai"),
      modelOf("openai/gpt-5.4-mini", "openai", "azure"),
      VIDEO_MODEL,
    ],
    limits: { vendor_polling: { first: 0.02, least: 0.02, most: 0.05, per_second: 1_000 } },
    aliases: { fast: "openai/gpt-5.4-mini" },
    egress: { allow: ["127.0.0.1/32"], ca_file: `${folder}/root.pem` },
  };
}
