import { openRequestLog } from "../../app/opening/request_log.ts";
import { createStoppedAdmin } from "../../app/routes/stopped_admin.ts";
import { newApiKey } from "../../../money/billing/keys/api_key.ts";
import type { Config } from "../../../config/config.ts";
import { shownStore } from "../../../config/tree/store_address.ts";
import { OPERATOR_ENDPOINTS } from "../../../platform/endpoints/operators.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { writeTests } from "../../../protocols/admin/providers.ts";
import { commandKeyOf } from "../../../config/sections/admin_keys.ts";
import { silentLog } from "../../../platform/lib/basics/log.ts";
import type { RequestLog } from "../../../observers/request_log/request_log.ts";
import { StoreInUseError } from "../../../platform/store/kv/process_lock.ts";
import type { Store } from "../../../platform/store/store.ts";
import { hasUnindexedTasks } from "../../../services/videos/tasks/records.ts";
import type { AdminCall } from "./admin_call.ts";
import { GatewayUnreachableError, StoreNotMigratedError } from "../command_errors.ts";
import { findGateway, type GatewaySelection, pathOf, type RunningGateway } from "../find/find_gateway.ts";
import { gatewayAddress } from "../find/gateway_address.ts";
import { gatewayFetch } from "../find/gateway_fetch.ts";
import { fileExists, openStoppedStore } from "../store/stopped_store.ts";
import { UsageError } from "../usage_error.ts";

/** A response of the admin API. */
export interface AdminResponse {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a call to the admin API. */
export type SendAdminCall = (call: AdminCall) => Promise<AdminResponse>;

/**
 * Chooses where the calls of a command go: to the running gateway that {@linkcode findGateway} finds, else to the store
 * itself, which is opened for each call. A missing store is created only for a call with `createsStore`.
 *
 * @param notify Takes notices for the operator: which gateway answers, or that a store was created.
 * @throws {UsageError} If a gateway runs and no admin key is known.
 */
export async function openAdminApi(
  config: Config,
  selection: GatewaySelection,
  call: AdminCall,
  notify: (text: string) => void,
): Promise<SendAdminCall> {
  const gateway = await findAndNotify(config, selection, notify);
  if (gateway !== null) return (each) => callGateway(each, gateway);
  if (call.tests !== undefined) return (each) => testWithoutGateway(each, config);
  if (call.needsRunning !== undefined) {
    if (commandKeyOf(config.server) === null) {
      throw new UsageError("switchyard: server.admin_key or SWITCHYARD_ADMIN_KEY must be set");
    }
    throw new GatewayUnreachableError(
      `No gateway responds at ${gatewayAddress(config, undefined)}; ${call.needsRunning}`,
    );
  }
  return (each) => callStoreWhenFree(each, config, selection, notify);
}

async function testWithoutGateway({ tests }: AdminCall, config: Config): Promise<AdminResponse> {
  if (tests === undefined) throw new TypeError("Cannot test: expected the name of a provider");
  const { testConfiguredProvider } = await import("../../app/operators/provider_test.ts");
  try {
    const found = await testConfiguredProvider(config, systemClock, tests.name, tests.credential);
    return { status: 200, body: writeTests(tests.name, found) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { status: error.status, body: { error: { message: error.message } } };
  }
}

async function findAndNotify(config: Config, selection: GatewaySelection, notify: (text: string) => void) {
  const gateway = await findGateway(config, selection);
  if (gateway !== null && gateway.devStore !== null) {
    notify(`Answered by "switchyard dev" at ${gateway.address}, store ${gateway.devStore}`);
  }
  return gateway;
}

const MAX_ATTEMPTS = 20;

/** Another command or a starting gateway can lock the store first. The next attempt finds that gateway. */
async function callStoreWhenFree(
  call: AdminCall,
  config: Config,
  selection: GatewaySelection,
  notify: (text: string) => void,
): Promise<AdminResponse> {
  for (let attempt = 1;; attempt++) {
    try {
      return await callStore(call, config, notify);
    } catch (error) {
      if (!(error instanceof StoreInUseError) || attempt === MAX_ATTEMPTS) throw error;
    }
    const gateway = await findAndNotify(config, selection, notify);
    if (gateway !== null) return await callGateway(call, gateway);
  }
}

async function callStore(call: AdminCall, config: Config, notify: (text: string) => void): Promise<AdminResponse> {
  const path = pathOf(config.store);
  const missingPath = path === null || await fileExists(path) ? null : path;
  const createsStore = call.createsStore === true && missingPath !== null;
  const store = await openStoppedStore(config, { mustExist: !createsStore });
  const requestLog = call.readsRequestLog ? await openStoppedRequestLog(config) : null;
  try {
    if (createsStore) notify(`No gateway runs, and there was no store: created ${await Deno.realPath(missingPath)}`);
    if (call.needsTaskIndex) await refuseUnindexed(store, config);
    const adminKey = newApiKey();
    const handler = createStoppedAdmin({ config, store, requestLog, adminKey });
    const remoteAddr = { transport: "tcp", hostname: "", port: 0 } as const; // a command has no address
    const request = new Request(`http://localhost${call.path}`, {
      method: call.method,
      headers: { ...headersFor(adminKey), host: "localhost" },
      body: bodyOf(call),
    });
    return await readResponse(await handler(request, { remoteAddr, completed: Promise.resolve() }));
  } finally {
    await requestLog?.close();
    await store.close();
  }
}

async function openStoppedRequestLog(config: Config): Promise<RequestLog | null> {
  if (!config.requestLog.isEnabled) return null;
  return await openRequestLog({ config, clock: systemClock, log: silentLog }, { isCreated: false });
}

async function refuseUnindexed(store: Store, config: Config): Promise<void> {
  if (!await hasUnindexedTasks(store)) return;
  throw new StoreNotMigratedError(
    `Tasks cannot be listed: the store "${shownStore(config.store)}" was written by an earlier version. ` +
      "Start the gateway once to migrate it",
  );
}

async function callGateway(call: AdminCall, { address, adminKey }: RunningGateway): Promise<AdminResponse> {
  if (adminKey === null) {
    throw new UsageError(
      `switchyard: the gateway at ${address} runs, and server.admin_key is not set; set it or SWITCHYARD_ADMIN_KEY, ` +
        "for the gateway too, and restart the gateway, or stop the gateway first",
    );
  }
  const response = await send(call, address, adminKey);
  if (response.status === 401) {
    throw new GatewayUnreachableError(
      `The gateway at ${address} refuses the admin key: set server.admin_key or SWITCHYARD_ADMIN_KEY to its own`,
    );
  }
  if (response.status === 404 && await hasNoAdminApi(address, adminKey)) {
    throw new GatewayUnreachableError(
      `The gateway at ${address} has no admin API: set its server.admin_key, or SWITCHYARD_ADMIN_KEY, and restart it`,
    );
  }
  return response;
}

/** A 404 can mean that the object does not exist. The list of accounts exists whenever there is an admin API. */
async function hasNoAdminApi(address: string, adminKey: string): Promise<boolean> {
  const { status } = await send(
    { method: "GET", path: `${OPERATOR_ENDPOINTS.listAccounts.path}?limit=1` },
    address,
    adminKey,
  );
  return status === 404;
}

async function send(call: AdminCall, address: string, adminKey: string): Promise<AdminResponse> {
  let response: Response;
  try {
    const request = { method: call.method, headers: headersFor(adminKey), body: bodyOf(call) };
    response = await gatewayFetch(address + call.path, request);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const why = call.needsRunning ? `; ${call.needsRunning}` : "";
    throw new GatewayUnreachableError(`No gateway responds at ${address}${why}`, { cause: error });
  }
  return await readResponse(response);
}

function headersFor(adminKey: string): Record<string, string> {
  return { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
}

function bodyOf({ method, body }: AdminCall): string | null {
  return method === "GET" || method === "DELETE" ? null : JSON.stringify(body ?? {});
}

/**
 * JSON is parsed, CSV and files are not. Another program can listen at the address, so the body can also be anything
 * else.
 */
async function readResponse(response: Response): Promise<AdminResponse> {
  const text = await response.text();
  if (/^(?:text\/csv|application\/octet-stream)/.test(response.headers.get("content-type") ?? "")) {
    return { status: response.status, body: text };
  }
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    throw new GatewayUnreachableError(
      `The response is not from a Switchyard gateway: status ${response.status} without a JSON body`,
    );
  }
}
