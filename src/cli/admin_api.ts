import { type App, buildApp } from "../app/app.ts";
import { newApiKey } from "../billing/api_key.ts";
import type { Config } from "../config/config.ts";
import { DEV_STORE } from "../config/dev_config.ts";
import { silentLog } from "../lib/log.ts";
import { StoreMissingError } from "../store/kv/database_file.ts";
import { StoreInUseError } from "../store/kv/process_lock.ts";
import type { AdminCall } from "./admin_call.ts";
import { findGateway, type GatewayWish, pathOf, type RunningGateway } from "./find_gateway.ts";
import { gatewayFetch } from "./gateway_fetch.ts";
import { gatewayAddress } from "./gateway_address.ts";
import { UsageError } from "./usage_error.ts";

/** What the admin API answered. */
export interface AdminAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** No running gateway answered, or it does not let this command in. */
export class GatewayUnreachableError extends Error {
  override readonly name = "GatewayUnreachableError";
}

/** Answers calls of the admin API. */
export type AskAdmin = (call: AdminCall) => Promise<AdminAnswer>;

/**
 * Opens the admin API of the gateway that a command is for, see {@linkcode findGateway}; when none runs, one of our own
 * over its store, for each call. A store is made only for a call that says so.
 *
 * @param note Is told what whoever runs the command may not expect: which gateway answers, that a store was made.
 * @throws {UsageError} If a gateway runs and there is no admin key for it.
 */
export async function openAdminApi(
  config: Config,
  wish: GatewayWish,
  call: AdminCall,
  note: (text: string) => void,
): Promise<AskAdmin> {
  const gateway = await findNoted(config, wish, note);
  if (gateway !== null) return (each) => askGateway(each, gateway);
  if (call.needsRunning !== undefined) {
    if (!config.server.adminKey) throw new UsageError("switchyard: expected server.admin_key, or SWITCHYARD_ADMIN_KEY");
    throw new GatewayUnreachableError(
      `No gateway answers at ${gatewayAddress(config, undefined)}; ${call.needsRunning}`,
    );
  }
  return (each) => askStoreInTurn(each, config, wish, note);
}

async function findNoted(config: Config, wish: GatewayWish, note: (text: string) => void) {
  const gateway = await findGateway(config, wish);
  if (gateway !== null && gateway.devStore !== null) {
    note(`Answered by "switchyard dev" at ${gateway.address}, store ${gateway.devStore}`);
  }
  return gateway;
}

const MAX_TURNS = 20;

/** Another command, or a gateway that starts, may take the store first: then this waits, and asks whoever has it. */
async function askStoreInTurn(
  call: AdminCall,
  config: Config,
  wish: GatewayWish,
  note: (text: string) => void,
): Promise<AdminAnswer> {
  for (let turn = 1;; turn++) {
    try {
      return await askStore(call, config, note);
    } catch (error) {
      if (!(error instanceof StoreInUseError) || turn === MAX_TURNS) throw error;
    }
    const gateway = await findNoted(config, wish, note);
    if (gateway !== null) return await askGateway(call, gateway);
  }
}

/**
 * An app over the store of a stopped gateway, which listens nowhere.
 *
 * @throws {StoreMissingError} If there is no store and it must exist, or it would be one in memory.
 */
export async function openStoppedApp(config: Config, { mustExist }: { readonly mustExist: boolean }): Promise<App> {
  try {
    if (pathOf(config.store) === null) throw new StoreMissingError(config.store);
    return await buildApp({ config, log: silentLog, mustExist });
  } catch (error) {
    if (!(error instanceof StoreMissingError)) throw error;
    throw new StoreMissingError(error.path, await missingStoreMessage(config));
  }
}

/** Why a store cannot be read while no gateway runs, as one line. */
async function missingStoreMessage(config: Config): Promise<string> {
  const path = pathOf(config.store);
  if (path === null) return "No gateway runs, and a store in memory exists in a running one alone";
  const dev = config.store === DEV_STORE ? null : pathOf(DEV_STORE)!;
  const hint = dev !== null && await isThere(dev)
    ? `; that of "switchyard dev", ${dev}, can be asked while dev runs`
    : '; "switchyard accounts create ID" makes one';
  return `No gateway runs, and there is no store at "${path}" (setting "store")${hint}`;
}

async function askStore(call: AdminCall, config: Config, note: (text: string) => void): Promise<AdminAnswer> {
  const path = pathOf(config.store);
  const makesStore = call.makesStore === true && path !== null && !await isThere(path);
  const adminKey = newApiKey();
  const administered = { ...config, server: { ...config.server, adminKey } };
  const app = await openStoppedApp(administered, { mustExist: !makesStore });
  if (makesStore) note(`No gateway runs, and there was no store: made ${await Deno.realPath(path!)}`);
  try {
    const remoteAddr = { transport: "tcp", hostname: "127.0.0.1", port: 0 } as const;
    const request = new Request(`http://localhost${call.path}`, {
      method: call.method,
      headers: { ...headersFor(adminKey), host: "localhost" },
      body: bodyOf(call),
    });
    return await readAnswer(await app.handler(request, { remoteAddr, completed: Promise.resolve() }));
  } finally {
    await app.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function askGateway(call: AdminCall, { address, adminKey }: RunningGateway): Promise<AdminAnswer> {
  if (adminKey === null) {
    throw new UsageError(
      `switchyard: expected server.admin_key, or SWITCHYARD_ADMIN_KEY, as a gateway runs at ${address}: ` +
        "set it, for the gateway too, and restart that, or stop it first",
    );
  }
  const answer = await send(call, address, adminKey);
  if (answer.status === 401) {
    throw new GatewayUnreachableError(
      `The gateway at ${address} refuses the admin key: set its own as server.admin_key, or as SWITCHYARD_ADMIN_KEY`,
    );
  }
  if (answer.status === 404 && await hasNoAdminApi(address, adminKey)) {
    throw new GatewayUnreachableError(
      `The gateway at ${address} has no admin API: set its server.admin_key, or SWITCHYARD_ADMIN_KEY, and restart it`,
    );
  }
  return answer;
}

/** A 404 may be about what was asked for; the list of accounts is always there. */
async function hasNoAdminApi(address: string, adminKey: string): Promise<boolean> {
  const { status } = await send({ method: "GET", path: "/admin/v1/accounts?limit=1" }, address, adminKey);
  return status === 404;
}

async function send(call: AdminCall, address: string, adminKey: string): Promise<AdminAnswer> {
  let response: Response;
  try {
    const request = { method: call.method, headers: headersFor(adminKey), body: bodyOf(call) };
    response = await gatewayFetch(address + call.path, request);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const why = call.needsRunning ? `; ${call.needsRunning}` : "";
    throw new GatewayUnreachableError(`No gateway answers at ${address}${why}`, { cause: error });
  }
  return await readAnswer(response);
}

function headersFor(adminKey: string): Record<string, string> {
  return { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
}

function bodyOf({ method, body }: AdminCall): string | undefined {
  return method === "POST" ? JSON.stringify(body ?? {}) : undefined;
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
