import { join } from "node:path";
import { freePort, startServer } from "../child.ts";
import { MODES } from "../load_request.ts";
import type { PeerOptions, RunningPeer } from "./peer.ts";

const KEY = "bench-master-key-0123456789";

/**
 * Starts GoModel from a program that the operator supplies: one key, usage to SQLite, no list of models from outside.
 * Source: GoModel, `.env.template`.
 *
 * @returns The peer, or the reason why there is none.
 */
export async function startGomodel({ folder, upstreamPort, core, binary }: PeerOptions): Promise<RunningPeer | string> {
  if (binary === null) return "no program was given: --binary gomodel=PATH";
  const port = freePort();
  const providers = MODES.flatMap((mode) => {
    const prefix = `OPENAI_${mode.toUpperCase()}`;
    return [
      [`${prefix}_API_KEY`, "upstream-key"],
      [`${prefix}_BASE_URL`, `http://127.0.0.1:${upstreamPort}/${mode}`],
      [`${prefix}_MODELS`, "canned-1"],
    ];
  });
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
      MODEL_LIST_URL: "",
      CONFIGURED_PROVIDER_MODELS_MODE: "allowlist",
      LOG_FORMAT: "json",
      ...Object.fromEntries(providers),
    },
    logPath: join(folder, "peer.log"),
    core,
  });
  return {
    id: "gomodel",
    label: "GoModel",
    server,
    note: "is a program that was supplied, with one key and with usage to SQLite",
    headersFor: () => ({ authorization: `Bearer ${KEY}` }),
    modelFor: (mode) => `openai-${mode}/canned-1`,
  };
}
