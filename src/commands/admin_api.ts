import { buildApp } from "../app.ts";
import { newApiKey } from "../billing/api_key.ts";
import type { Config } from "../config/config.ts";
import { silentLog } from "../lib/log.ts";
import { StoreInUseError } from "../store/lock.ts";
import type { AdminCall } from "./admin_call.ts";
import { gatewayAddress } from "./gateway_address.ts";
import { UsageError } from "./usage_error.ts";

/** What the admin API answered. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** No running gateway answered. */
export class GatewayUnreachableError extends Error {
  override readonly name = "GatewayUnreachableError";
}

/**
 * Sends one call to the admin API: that of the gateway that `--gateway` names; else one of our own, over the store of a
 * stopped gateway; else, when a running one owns that store, its.
 *
 * @param gateway The value of `--gateway`.
 * @throws {UsageError} If a running gateway is to be called without an admin key or an address.
 * @throws {GatewayUnreachableError} If it does not answer.
 */
export async function askAdminApi(call: AdminCall, config: Config, gateway: string | undefined): Promise<AdminAnswer> {
  if (gateway !== undefined || call.needsRunning) return await askRunning(call, config, gateway);
  try {
    return await askStopped(call, config);
  } catch (error) {
    if (!(error instanceof StoreInUseError)) throw error;
    if (config.server.adminKey !== null) return await askRunning(call, config, gateway);
    throw new UsageError(`${error.message}. To administer a running gateway, set server.admin_key, or stop it first.`);
  }
}

async function askStopped(call: AdminCall, config: Config): Promise<AdminAnswer> {
  const adminKey = newApiKey();
  const app = await buildApp({ config: { ...config, server: { ...config.server, adminKey } }, log: silentLog });
  try {
    const remoteAddr = { transport: "tcp", hostname: "127.0.0.1", port: 0 } as const;
    const request = requestOf(call, "http://localhost", adminKey);
    return await readAnswer(await app.handler(request, { remoteAddr, completed: Promise.resolve() }));
  } finally {
    await app.close();
  }
}

async function askRunning(call: AdminCall, config: Config, gateway: string | undefined): Promise<AdminAnswer> {
  const { adminKey } = config.server;
  if (!adminKey) throw new UsageError("switchyard: expected server.admin_key, or SWITCHYARD_ADMIN_KEY");
  const address = gatewayAddress(config, gateway);
  let response: Response;
  try {
    response = await fetch(requestOf(call, address, adminKey));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const why = call.needsRunning ? `; ${call.needsRunning}` : "";
    throw new GatewayUnreachableError(`No gateway answers at ${address}${why}`, { cause: error });
  }
  return await readAnswer(response);
}

function requestOf({ method, path, body }: AdminCall, base: string, adminKey: string): Request {
  return new Request(base + path, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", host: new URL(base).host },
    body: method === "POST" ? JSON.stringify(body ?? {}) : undefined,
  });
}

/** Something else than a gateway may listen there, so the body need not be JSON. */
async function readAnswer(response: Response): Promise<AdminAnswer> {
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    throw new GatewayUnreachableError(`What answers there is no gateway: status ${response.status} without JSON`);
  }
}
