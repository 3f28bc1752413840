import { join } from "node:path";
import { freePort, run, startServer } from "../child.ts";
import { MODES } from "../load_request.ts";
import type { PeerOptions, RunningPeer } from "./peer.ts";

const ADMIN_TOKEN = "bench-admin-token-0123456789";
const GROUP = "bench";
const MINT_MS = 10_000;

/**
 * Starts Busbar from a program that the operator supplies: one signed key, bound to a group with a budget; its store in
 * memory. Source: the pages "Configuration" and "Admin API" of Busbar's documentation.
 *
 * @returns The peer, or the reason why there is none.
 */
export async function startBusbar({ folder, upstreamPort, core, binary }: PeerOptions): Promise<RunningPeer | string> {
  if (binary === null) return "no program was given: --binary busbar=PATH";
  const [port, adminPort] = [freePort(), freePort()];
  const signingKeyPath = join(folder, "signing.key");
  const [configPath, providersPath] = [join(folder, "config.yaml"), join(folder, "providers.yaml")];
  await Deno.writeTextFile(signingKeyPath, await run([binary, "--generate-signing-key"], { timeoutMs: 10_000 }));
  // JSON is YAML.
  await Deno.writeTextFile(providersPath, JSON.stringify(catalogOf(upstreamPort)));
  await Deno.writeTextFile(configPath, JSON.stringify(configOf({ port, adminPort, signingKeyPath })));
  const server = await startServer({
    name: "Busbar",
    command: [binary],
    port,
    env: {
      BUSBAR_CONFIG: configPath,
      BUSBAR_PROVIDERS: providersPath,
      BUSBAR_ADMIN_TOKEN: ADMIN_TOKEN,
      BENCH_UPSTREAM_KEY: "upstream-key",
    },
    logPath: join(folder, "peer.log"),
    core,
  });
  const key = await mintKey(adminPort).catch(async (error) => {
    await server.stop();
    throw error;
  });
  return {
    id: "busbar",
    label: "Busbar",
    server,
    note: "is a program that was supplied, with a key, a price list and a budget, its store in memory",
    headersFor: () => ({ authorization: `Bearer ${key}` }),
    modelFor: (mode) => `canned-${mode}`,
  };
}

function catalogOf(upstreamPort: number): unknown {
  return Object.fromEntries(MODES.map((mode) => [
    `bench-${mode}`,
    { protocol: "openai", base_url: `http://127.0.0.1:${upstreamPort}/${mode}`, error_map: {} },
  ]));
}

function configOf(
  { port, adminPort, signingKeyPath }: {
    readonly port: number;
    readonly adminPort: number;
    readonly signingKeyPath: string;
  },
): unknown {
  const perMode = (entry: (mode: string) => readonly [string, unknown]) => Object.fromEntries(MODES.map(entry));
  return {
    "listen": `127.0.0.1:${port}`,
    "admin_listen": `127.0.0.1:${adminPort}`,
    "identity-providers": { "admin-tokens": { module: "admin-tokens", token: { env: "BUSBAR_ADMIN_TOKEN" } } },
    "auth": { chain: ["keys"], admin_auth: ["admin-tokens"], signing_key: { file: signingKeyPath } },
    "groups": { [GROUP]: { limits: [{ budget: 1_000_000_000, per: "month" }] } },
    "rate_card": perMode((mode) => [`canned-${mode}`, { input_utok: 0.01, output_utok: 0.01 }]),
    "store": { module: "memory" },
    "providers": perMode((mode) => [`bench-${mode}`, { api_key: { env: "BENCH_UPSTREAM_KEY" } }]),
    "models": perMode((mode) => [`canned-${mode}`, { provider: `bench-${mode}`, upstream_model: "canned-1" }]),
  };
}

async function mintKey(adminPort: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/api/v1/admin/keys`, {
    method: "POST",
    headers: { "x-admin-token": ADMIN_TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench", group: GROUP }),
    signal: AbortSignal.timeout(MINT_MS),
  });
  const text = await response.text();
  const token: unknown = response.ok ? JSON.parse(text).token : null;
  if (typeof token !== "string") throw new Error(`Cannot mint a key: Busbar answered ${response.status}: ${text}`);
  return token;
}
