import type { RunningApp } from "../app/app.ts";
import type { Config } from "../config/config.ts";
import { DEV_KEY_PATH, devConfig } from "../config/dev_config.ts";
import { CALLER_ENDPOINTS } from "../endpoints/callers.ts";
import type { Endpoint } from "../endpoints/endpoint.ts";
import { restrictPermissions } from "../lib/private_path.ts";
import { builtInRates } from "../config/dev_rates.ts";
import { startSandbox } from "../sandbox/mod.ts";
import { adminKeyPath, pathOf, webhookSecretPath } from "./find_gateway.ts";
import { runUntilSignal, startGateway } from "./gateway_process.ts";
import { openProcessOutput } from "./process_output.ts";
import { ensureSecret, writeSecret } from "./secret_file.ts";
import { UsageError } from "./usage_error.ts";

/**
 * Runs `dev`: the gateway in front of simulated vendors, with an API key that is ready to use.
 *
 * @returns The exit code.
 */
export async function dev(args: readonly string[]): Promise<number> {
  if (args.length > 0) throw new UsageError("switchyard dev: no arguments are expected");
  const key = await ensureSecret(DEV_KEY_PATH);
  const sandbox = await startSandbox({ port: 0, ratesOf: builtInRates() });
  const loaded = devConfig({ sandbox: sandbox.baseUrls, key, env: (name) => Deno.env.get(name) });
  const isPortChosen = loaded.tree.ownerOf("server", "port") !== null;
  const known = await withAdminKey(loaded.config);
  const config = isPortChosen ? known : onFreePort(known);
  const output = openProcessOutput(config);
  const usual = loaded.config.server.port;
  if (config.server.port !== usual) {
    output.print(`Another process uses port ${usual}; this gateway takes ${config.server.port}.`);
  }
  for (const path of [DEV_KEY_PATH, adminKeyPath(config.store)]) {
    if (path !== null) await restrictPermissions(path, output.log);
  }
  const code = await runUntilSignal(config, output, async () => {
    const { unset, ...written } = loaded.tree;
    const tree = { ...written, unset: { ...unset, server: { ...unset.server, port: config.server.port } } };
    const app = await startGateway({ config, tree, showSecrets: true }, output);
    await storeWebhookSecret(config, app);
    output.print(devGreeting({ address: app.address, key, consoleLink: await app.createConsoleLink() }));
    return app;
  });
  await sandbox.stop();
  return code;
}

/** How many ports are tried after the usual one. */
const MAX_OTHER_PORTS = 20;

/** The configuration with the first port that is free. */
function onFreePort(config: Config): Config {
  const { server } = config;
  for (let port = server.port; port <= Math.min(server.port + MAX_OTHER_PORTS, 65_535); port++) {
    if (isFree(server.host, port)) return { ...config, server: { ...server, port } };
  }
  return config;
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
 * The configuration with an admin key. A key of the environment comes first. Else the key is kept in a file beside the
 * store, where other commands of the same user find it.
 */
async function withAdminKey(config: Config): Promise<Config> {
  const path = adminKeyPath(config.store);
  if (config.server.adminKey !== null || path === null) return config;
  return { ...config, server: { ...config.server, adminKey: await ensureSecret(path) } };
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
}

function devGreeting({ address, key, consoleLink }: Greeting): string {
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

While this gateway runs, other commands in this folder use it, such as "switchyard accounts list", or, for video events,
"switchyard webhooks listen --forward http://localhost:3000/hook".
`;
}
