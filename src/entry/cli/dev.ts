import type { RunningApp } from "../app/app.ts";
import type { Config, LoadedConfig } from "../../config/config.ts";
import type { StoredConfig } from "../../config/tree/plain_tree.ts";
import type { LogLevel } from "../../platform/lib/basics/log.ts";
import { DEV_JOBS_FOLDER, DEV_KEY_PATH, devConfig } from "../../config/dev_config.ts";
import { CALLER_ENDPOINTS } from "../../platform/endpoints/callers.ts";
import type { Endpoint } from "../../platform/endpoints/endpoint.ts";
import { IS_BUNDLED } from "../../platform/lib/process/program_files.ts";
import { restrictPermissions } from "../../platform/lib/process/private_path.ts";
import { builtInRates } from "../../config/dev_rates.ts";
import { type Sandbox, startSandbox } from "../../sandbox/mod.ts";
import { adminKeyPath, pathOf, webhookSecretPath } from "./find/find_gateway.ts";
import { programOf } from "./program_name.ts";
import { runUntilSignal, startGateway } from "./process/gateway_process.ts";
import { openProcessOutput } from "./process/process_output.ts";
import { ensureSecret, writeSecret } from "./find/secret_file.ts";
import { UsageError } from "./usage_error.ts";

/**
 * Runs `dev`: the gateway in front of simulated vendors, with an API key that is ready to use.
 *
 * @returns The exit code.
 */
export async function dev(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError("switchyard dev: no arguments are expected");
  const key = await ensureSecret(DEV_KEY_PATH);
  const program = programOf(Deno.execPath(), IS_BUNDLED);
  const sandbox = await startVendors();
  const load = (stored: StoredConfig) =>
    devConfig({ sandbox: sandbox.baseUrls, key, env: (name) => Deno.env.get(name), stored });
  const usual = load({});
  const isPortChosen = usual.tree.ownerOf("server", "port") !== null;
  const adminKey = await adminKeyOf(usual.config);
  const port = isPortChosen ? usual.config.server.port : freePort(usual.config);
  const loaded = withServer(usual, { adminKey, port });
  const { config } = loaded;
  const output = openProcessOutput(config);
  if (port !== usual.config.server.port) {
    output.print(`Another process uses port ${usual.config.server.port}; this gateway takes ${port}.`);
  }
  for (const path of [DEV_KEY_PATH, adminKeyPath(config.store)]) {
    if (path !== null) await restrictPermissions(path, output.log);
  }
  const code = await runUntilSignal(config, output, async () => {
    const source = { path: null, load: (stored: StoredConfig) => withServer(load(stored), { adminKey, port }) };
    const setLogLevel = (level: LogLevel) => void (output.log.level = level);
    const app = await startGateway({ config, live: { source, loaded, setLogLevel }, showSecrets: true }, output);
    await storeWebhookSecret(config, app);
    output.print(devGreeting({ address: app.address, key, consoleLink: await app.createConsoleLink(), program }));
    return app;
  });
  await sandbox.stop();
  return code;
}

/**
 * The usual port of the simulated vendors. It is the same at every start, so that the addresses of the providers, which
 * are settings, do not change. See docs/decisions/0314-changes-of-dev.md.
 */
const VENDORS_PORT = 18_787;

async function startVendors(): Promise<Sandbox> {
  await Deno.mkdir(DEV_JOBS_FOLDER, { recursive: true, mode: 0o700 });
  const options = { ratesOf: builtInRates(), jobsFolder: DEV_JOBS_FOLDER };
  try {
    return await startSandbox({ port: VENDORS_PORT, ...options });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    return await startSandbox({ port: 0, ...options });
  }
}

/** How many ports are tried after the usual one. */
const MAX_OTHER_PORTS = 20;

/** The first port that is free, from the usual one on; the usual one if there is none. */
function freePort({ server }: Config): number {
  for (let port = server.port; port <= Math.min(server.port + MAX_OTHER_PORTS, 65_535); port++) {
    if (isFree(server.host, port)) return port;
  }
  return server.port;
}

function isFree(hostname: string, port: number): boolean {
  try {
    Deno.listen({ hostname, port }).close();
    return true;
  } catch {
    return false; // the start names what prevents it
  }
}

/**
 * The admin key. A key of the environment comes first. Else the key is kept in a file beside the store, where other
 * commands of the same user find it.
 */
async function adminKeyOf({ server, store }: Config): Promise<string | null> {
  const path = adminKeyPath(store);
  return server.adminKey === null && path !== null ? await ensureSecret(path) : server.adminKey;
}

/** The configuration with what is known of the server only when it runs. */
function withServer(
  { config, tree: { unset, ...written } }: LoadedConfig,
  { adminKey, port }: { readonly adminKey: string | null; readonly port: number },
): LoadedConfig {
  return {
    config: { ...config, server: { ...config.server, adminKey, port } },
    tree: { ...written, unset: { ...unset, server: { ...unset.server, port } } },
  };
}

/** Writes the webhook secret of the new account to a file beside the store, where `webhooks listen` finds it. */
async function storeWebhookSecret({ store }: Config, { createdAccounts }: RunningApp): Promise<void> {
  const path = pathOf(store);
  for (const { generatedWebhookSecret: secret } of createdAccounts.created) {
    if (path !== null && secret !== null) await writeSecret(webhookSecretPath(path), secret);
  }
}

interface Greeting {
  readonly address: string;
  /** Of the demo account. */
  readonly key: string;
  /** Null without a console. */
  readonly consoleLink: string | null;
  /** How commands begin. */
  readonly program: string;
}

function devGreeting({ address, key, consoleLink, program }: Greeting): string {
  const signIn = consoleLink === null
    ? ""
    : `\nOpen the console with this link, which signs you in once within 15 minutes: ${consoleLink}\n`;
  const curl = ({ path }: Pick<Endpoint, "path">) =>
    `  curl ${address}${path} -H "Authorization: Bearer $SWITCHYARD_KEY" \\
    -H "Content-Type: application/json" \\`;
  return `${signIn}
Vendors are simulated: no request leaves this machine and nothing is billed. The demo account has 25 USD.
Paste these lines into another terminal. The API key is ready to use:

  export SWITCHYARD_KEY=${key}

${curl(CALLER_ENDPOINTS.createChatCompletion)}
    -d '{"model":"sandbox/chat-1","messages":[{"role":"user","content":"Say hello"}]}'

${curl(CALLER_ENDPOINTS.createImages)}
    -d '{"model":"sandbox/image-1","prompt":"A lighthouse at dusk","quality":"low"}'

${curl(CALLER_ENDPOINTS.createVideo)}
    -d '{"model":"sandbox/video-1","prompt":"A lighthouse at dusk"}'

While this gateway runs, other commands in this folder use it. The second one shows the events of videos:

  ${program} accounts list
  ${program} webhooks listen --forward http://localhost:3000/hook
`;
}
