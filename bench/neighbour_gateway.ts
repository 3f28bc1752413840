import { join } from "node:path";
import { program, type Server, startServer } from "./child.ts";

/** The key of the account whose small requests are measured. */
export const LIGHT_KEY = "sk-bench-light-000000000000";
/** The key of the account that sends heavy requests. */
export const HEAVY_KEY = "sk-bench-heavy-000000000000";
/** The key of the operator. */
export const OPERATOR_KEY = "bench-operator-key-0000";
/** The file in which the gateway writes its longest turn. */
export const TURN_FILE = "longest-turn";

/** The kinds of replies of a vendor of chat completions. Each is a model `bench/<kind>`. */
const CHAT_KINDS = [
  "huge",
  "lists",
  "novel",
  "endless",
  "fast",
  "frames",
  "burst",
  "drops",
  "comments",
  "blanks",
  "giant",
];

/**
 * Starts a gateway with a watch on its main thread.
 *
 * @param folder Where the vendor of a model is the kind of its reply.
 */
export async function startNeighbourGateway(vendorPort: number, folder: string): Promise<Server> {
  const path = join(folder, "neighbours.json");
  const vendor = (kind: string, mode: string) => ({
    kind,
    base_url: `http://127.0.0.1:${vendorPort}/${mode}`,
    api_key: "bench-vendor-key",
  });
  const text = (name: string, provider = name) => ({
    id: `bench/${name}`,
    pricing: { prompt: "0.00000001", completion: "0.00000001" },
    serves: [{ provider }],
  });
  const picture = { pricing: { per_image: "0.0001" } };
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      server: { host: "127.0.0.1", port: 0, isolates: 1, shutdown_grace: 1, admin_key: OPERATOR_KEY },
      egress: { allow: ["127.0.0.1/32"] },
      store: "kv::memory:",
      files: join(folder, "files"),
      accounts: [
        { id: "light", balance: "1000000", keys: [LIGHT_KEY] },
        { id: "heavy", balance: "1000000", keys: [HEAVY_KEY] },
      ],
      providers: {
        small: vendor("openai", "small"),
        messages: vendor("anthropic", "small"),
        ...Object.fromEntries(CHAT_KINDS.map((kind) => [kind, vendor("openai", kind)])),
        look: vendor("google", "small"),
        painter: vendor("openai", "images"),
        ark: vendor("ark", "images"),
      },
      models: [
        ...["small", "messages", "look", ...CHAT_KINDS].map((name) => text(name)),
        { id: "bench/painter", image: { edits: true }, serves: [{ provider: "painter" }], ...picture },
        { id: "bench/seer", image: { series: "reference" }, serves: [{ provider: "ark" }], ...picture },
        {
          id: "bench/video",
          video: { modes: ["text2video", "mixref2video"], price_per_second: { default: "0.0001" } },
          serves: [{ provider: "ark" }],
        },
      ],
      limits: { memory: "4GB" }, // of which an account may hold a part
      logs: { level: "warn" },
    }),
  );
  return await startServer({
    name: "gateway",
    command: [...program("bench/watched_gateway.ts"), path, join(folder, TURN_FILE)],
    logPath: join(folder, "gateway.log"),
    core: null,
  });
}

/** Starts the vendor, which selects its reply by the first segment of the path. */
export function startNeighbourVendor(folder: string): Promise<Server> {
  return startServer({
    name: "vendor",
    command: program("bench/neighbour_vendor.ts"),
    logPath: join(folder, "vendor.log"),
    core: null,
  });
}
