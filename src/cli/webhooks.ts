import { parseArgs } from "node:util";
import { loadConfig } from "../config/load_config.ts";
import { findGateway, isNamed, type RunningGateway, webhookSecretPath } from "./find_gateway.ts";
import { gatewayAddress } from "./gateway_address.ts";
import { readSecret } from "./secret_file.ts";
import { listenForWebhooks } from "./webhooks_listen.ts";
import { print } from "./print.ts";
import { triggerEvent } from "./webhooks_trigger.ts";
import { UsageError } from "./usage_error.ts";

/**
 * `webhooks listen [--forward URL] [--account ID]`: prints the events of a running gateway as they come, checks their
 * signatures and posts them on. The gateway goes on calling the callback addresses itself; this only looks on.
 *
 * `webhooks trigger EVENT [--url URL] [--account ID]`: makes a test event, for an address or for those who listen.
 *
 * Both take `--config FILE` and `--gateway URL`.
 */
export async function webhooksCommand([verb, ...rest]: readonly string[]): Promise<number> {
  switch (verb) {
    case "listen":
      return await listen(rest);
    case "trigger":
      return await trigger(rest);
  }
  throw new UsageError(`switchyard webhooks: there is no "${verb ?? ""}": expected listen or trigger`);
}

/** The account that `dev` makes, whose secret it keeps. */
const DEV_ACCOUNT = "demo";

async function listen(args: readonly string[]): Promise<number> {
  const { values } = optionsIn(args, "forward");
  const { gateway, adminKey, devSecret } = await gatewayFor(values);
  const given = Deno.env.get("SWITCHYARD_WEBHOOK_SECRET") || null;
  const forward = values.forward === undefined ? null : addressIn("--forward", values.forward);
  if (given === null && devSecret !== null) {
    print(`Signatures of "${DEV_ACCOUNT}" are checked by its secret ${devSecret}`);
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
  const { values, positionals: [event, ...more] } = optionsIn(args, "url");
  if (event === undefined || more.length > 0) {
    throw new UsageError("switchyard webhooks trigger: expected an event, such as video.generation.completed");
  }
  const url = values.url === undefined ? null : addressIn("--url", values.url);
  const { gateway, adminKey } = await gatewayFor(values);
  return await triggerEvent({ gateway, adminKey, event, account: values.account ?? null, url, print });
}

interface Found {
  readonly gateway: string;
  readonly adminKey: string;
  /** The webhook secret of the account that `dev` makes; null for another gateway. */
  readonly devSecret: string | null;
}

async function gatewayFor(values: { config?: string; gateway?: string }): Promise<Found> {
  const config = loadConfig({ path: values.config, env: (name) => Deno.env.get(name) });
  const running = await findGateway(config, { gateway: values.gateway, isNamed: isNamed(values.config) });
  const adminKey = running === null ? config.server.adminKey : running.adminKey;
  if (!adminKey) throw new UsageError("switchyard webhooks: expected server.admin_key, or SWITCHYARD_ADMIN_KEY");
  const gateway = running?.address ?? gatewayAddress(config, values.gateway);
  return { gateway, adminKey, devSecret: running && await devSecretOf(running) };
}

async function devSecretOf({ devStore }: RunningGateway): Promise<string | null> {
  return devStore === null ? null : await readSecret(webhookSecretPath(devStore));
}

/** An address of the command line, whose scheme may be left out. */
function addressIn(option: string, given: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  if (URL.canParse(url) && /^https?:/i.test(url)) return url;
  throw new UsageError(`switchyard: expected an http or https address behind ${option}`);
}

function optionsIn(args: readonly string[], extra: "forward" | "url") {
  const option = { type: "string" } as const;
  const options = { config: option, gateway: option, account: option, [extra]: option };
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: extra === "url" });
    return { values: values as Readonly<Record<string, string | undefined>>, positionals };
  } catch (error) {
    throw new UsageError(`switchyard: ${(error as Error).message}`);
  }
}
