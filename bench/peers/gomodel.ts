import { join } from "node:path";
import { freePort, startServer } from "../child.ts";
import { MODES } from "../load_request.ts";
import type { PeerOptions, RunningPeer } from "./peer.ts";

const KEY = "bench-master-key-0123456789";

/**
 * Starts GoModel from a program that the operator supplies: one key, prices, a budget, usage to SQLite, which is its
 * store for one instance, its default log, no list of models from outside. Source: GoModel, `.env.template`,
 * `config/config.example.yaml` and the page "Budgets" of its documentation.
 *
 * @returns The peer, or the reason why there is none.
 */
export async function startGomodel({ folder, upstreamPort, core, binary }: PeerOptions): Promise<RunningPeer | string> {
  if (binary === null) return "no program was given: --binary gomodel=PATH";
  const port = freePort();
  // JSON is YAML.
  await Deno.writeTextFile(join(folder, "config.yaml"), JSON.stringify(configOf(upstreamPort)));
  const server = await startServer({
    name: "GoModel",
    // It reads its files from the current folder.
    command: ["sh", "-c", 'cd "$1" && exec "$2"', "sh", folder, binary],
    port,
    env: {
      GOMODEL_MASTER_KEY: KEY,
      GOMODEL_CACHE_DIR: join(folder, "cache"),
      STORAGE_TYPE: "sqlite",
      SQLITE_PATH: join(folder, "gomodel.db"),
      USAGE_ENABLED: "true",
      BUDGETS_ENABLED: "true",
      CONFIGURED_PROVIDER_MODELS_MODE: "allowlist",
      LOG_FORMAT: "json",
    },
    logPath: join(folder, "peer.log"),
    core,
  });
  return {
    id: "gomodel",
    label: "GoModel",
    server,
    note: "is a program that was supplied, with one key, prices, a budget and usage to SQLite",
    headersFor: () => ({ authorization: `Bearer ${KEY}` }),
    modelFor: (mode) => `openai-${mode}/canned-1`,
  };
}

function configOf(upstreamPort: number): unknown {
  const pricing = { currency: "USD", input_per_mtok: 0.01, output_per_mtok: 0.01 };
  return {
    providers: Object.fromEntries(MODES.map((mode) => [`openai-${mode}`, {
      type: "openai",
      api_key: "upstream-key",
      base_url: `http://127.0.0.1:${upstreamPort}/${mode}`,
      models: [{ id: "canned-1", metadata: { modes: ["chat"], pricing } }],
    }])),
    cache: { model: { model_list: { url: "" } } },
    budgets: { enabled: true, user_paths: [{ path: "/", limits: [{ period: "monthly", amount: 1_000_000_000 }] }] },
  };
}
