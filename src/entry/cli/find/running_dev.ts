import type { Config } from "../../../config/config.ts";
import { DEV_KEY_PATH, DEV_STORE, devConfig } from "../../../config/dev_config.ts";
import { CONFIG_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { simulatedAddresses } from "../../../sandbox/mod.ts";
import { findGateway } from "./find_gateway.ts";
import { gatewayFetch } from "./gateway_fetch.ts";
import { readSecret } from "./secret_file.ts";

/**
 * The configuration of the gateway of `dev` that runs in this folder, with the addresses of its simulated vendors.
 *
 * @param config The configuration of the command, which names no other gateway.
 * @returns Null if none runs, or if it does not show its configuration.
 */
export async function runningDevConfig(config: Config): Promise<Config | null> {
  try {
    const gateway = await findGateway({ ...config, store: DEV_STORE }, { gateway: undefined, isConfigNamed: true });
    const key = await readSecret(DEV_KEY_PATH);
    if (gateway === null || gateway.adminKey === null || key === null) return null;
    const { address, adminKey } = gateway;
    const headers = { authorization: `Bearer ${adminKey}` };
    const shown = await (await gatewayFetch(address + CONFIG_ENDPOINTS.readConfig.path, { headers }))
      .json() as JsonObject;
    const sandbox = simulatedAddresses(originOf(shown));
    const dev = devConfig({ sandbox, key, env: (name) => Deno.env.get(name) }).config;
    return { ...dev, server: { ...dev.server, adminKey, port: Number(new URL(address).port) } };
  } catch {
    return null; // a gateway that cannot be asked is one that the command does not find
  }
}

/**
 * The origin of the simulated vendors in a configuration as the admin API shows it.
 *
 * @throws {TypeError} If it has none.
 */
function originOf(shown: JsonObject): string {
  const { settings } = shown as { readonly settings: { readonly providers: Readonly<Record<string, Shown>> } };
  return new URL(settings.providers["sandbox-openai"]?.value.base_url ?? "").origin;
}

interface Shown {
  readonly value: { readonly base_url: string };
}
