import { loadConfig } from "../../config/load_config.ts";
import { commandKeyOf } from "../../config/sections/admin_keys.ts";
import { environmentOf } from "./environment.ts";
import { findGateway, isConfigNamed, type RunningGateway, webhookSecretPath } from "./find/find_gateway.ts";
import { gatewayAddress } from "./find/gateway_address.ts";
import { readSecret } from "./find/secret_file.ts";
import { listenForWebhooks } from "./webhooks_listen.ts";
import { print } from "./print.ts";
import { triggerEvent } from "./webhooks_trigger.ts";
import { UsageError } from "./usage_error.ts";
import { parseOptions } from "./command_options.ts";

/**
 * Runs `webhooks listen [--forward URL] [--account ID]`: prints new events of a running gateway, checks their
 * signatures and forwards them. The gateway's own deliveries are not affected.
 *
 * Runs `webhooks trigger EVENT [--url URL] [--account ID]`: creates a test event, for an address or for
 * `webhooks listen` processes.
 *
 * Both take `--config FILE` and `--gateway URL`.
 *
 * @returns The exit code.
 */
export async function webhooksCommand([subcommand, ...rest]: readonly string[]): Promise<number> {
  switch (subcommand) {
    case "listen":
      return await listen(rest);
    case "trigger":
      return await trigger(rest);
  }
  const problem = subcommand === undefined ? "missing subcommand" : `unknown subcommand "${subcommand}"`;
  throw new UsageError(`switchyard webhooks: ${problem}: expected one of listen, trigger`);
}

/** The account of `dev`, whose webhook secret is kept in a file. */
const DEV_ACCOUNT = "demo";

async function listen(args: readonly string[]): Promise<number> {
  const { values } = readOptions(args, "forward");
  const { gateway, adminKey, devSecret } = await gatewayFor(values);
  const given = Deno.env.get("SWITCHYARD_WEBHOOK_SECRET") || null;
  const forward = values.forward === undefined ? null : readAddress("--forward", values.forward);
  if (given === null && devSecret !== null) {
    print(`Signatures of "${DEV_ACCOUNT}" are checked with its secret ${devSecret}`);
  }
  if (given === null && devSecret === null) {
    print("Signatures are not checked: set SWITCHYARD_WEBHOOK_SECRET to check them");
  }
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  await listenForWebhooks({
    gateway,
    adminKey,
    secretOf: (account) => given ?? (account === DEV_ACCOUNT ? devSecret : null),
    account: values.account ?? null,
    forward,
    print,
    signal: stop.signal,
  });
  return 0;
}

async function trigger(args: readonly string[]): Promise<number> {
  const { values, positionals: [event, ...more] } = readOptions(args, "url");
  if (event === undefined || more.length > 0) {
    throw new UsageError("switchyard webhooks trigger: expected one event, such as video.generation.completed");
  }
  const url = values.url === undefined ? null : readAddress("--url", values.url);
  const { gateway, adminKey } = await gatewayFor(values);
  return await triggerEvent({ gateway, adminKey, event, account: values.account ?? null, url, print });
}

/** The gateway that a command calls, with its secrets. */
interface GatewayAccess {
  readonly gateway: string;
  readonly adminKey: string;
  /** The webhook secret of the account of `dev`; null for another gateway. */
  readonly devSecret: string | null;
}

async function gatewayFor(values: { config?: string; gateway?: string }): Promise<GatewayAccess> {
  const config = loadConfig({ path: values.config, env: environmentOf(values.config) });
  const running = await findGateway(config, { gateway: values.gateway, isConfigNamed: isConfigNamed(values.config) });
  const adminKey = running === null ? commandKeyOf(config.server) : running.adminKey;
  if (!adminKey) {
    throw new UsageError("switchyard webhooks: server.admin_key or SWITCHYARD_ADMIN_KEY must be set");
  }
  const gateway = running?.address ?? gatewayAddress(config, values.gateway);
  return { gateway, adminKey, devSecret: running && await devSecretOf(running) };
}

async function devSecretOf({ devStore }: RunningGateway): Promise<string | null> {
  return devStore === null ? null : await readSecret(webhookSecretPath(devStore));
}

/** An address on the command line. Without a scheme it is an `http` address. */
function readAddress(option: string, given: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  if (URL.canParse(url) && /^https?:/i.test(url)) return url;
  throw new UsageError(`switchyard webhooks: ${option} must be an http or https address`);
}

function readOptions(args: readonly string[], extra: "forward" | "url") {
  const option = { type: "string" } as const;
  const options = { config: option, gateway: option, account: option, [extra]: option };
  const words = { forward: "webhooks listen", url: "webhooks trigger" }[extra];
  const { values, positionals } = parseOptions(words, args, { options, allowPositionals: extra === "url" });
  return { values: values as Readonly<Record<string, string | undefined>>, positionals };
}
