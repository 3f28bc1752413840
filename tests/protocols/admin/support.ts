import { AdminKeys } from "../../../src/observers/audit/admin_keys.ts";
import { AuditLog } from "../../../src/observers/audit/audit_log.ts";
import { createKeyRing, type KeyRing } from "../../../src/money/billing/keys/key_ring.ts";
import { createMeter } from "../../../src/money/billing/meter/create_meter.ts";
import type { LedgerMeter } from "../../../src/money/billing/meter/meter.ts";
import type { Route } from "../../../src/platform/http/request/inbound.ts";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { guarded } from "../../../src/protocols/admin/admin_access.ts";
import type { AdminRoute } from "../../../src/protocols/admin/shared/admin_route.ts";
import { unobservedRecord } from "../../support/unobserved_record.ts";
import { type GatewayError, gatewayErrorOf } from "../../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../src/platform/lib/json/json_object.ts";
import { silentLog } from "../../../src/platform/lib/basics/log.ts";
import { UnfinishedChangeError } from "../../../src/protocols/admin/shared/unfinished_change.ts";
import { adminRoutes } from "../../../src/protocols/admin/routes.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import type { Store } from "../../../src/platform/store/store.ts";
import { type ManualClock, manualClock } from "../../billing/support.ts";
import { UNLIMITED_MEMORY } from "../../../src/platform/lib/process/memory_budget.ts";
import { atLeast, itemAt } from "../../support/items.ts";

/** A response, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** The admin endpoints over a memory store, called as the router would. */
export interface TestAdmin {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly keys: KeyRing;
  readonly meter: LedgerMeter;
  /** Calls an endpoint below `/admin/v1/accounts` with the admin key, or with the given headers. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** The operator's key of {@linkcode openTestAdmin}. */
export const ADMIN_KEY = "admin-key-of-the-tests";

/** Why no erasure of {@linkcode openTestAdmin} ends. */
export const UNFINISHED = "Something is left to erase";

/** Guards routes by {@linkcode ADMIN_KEY}, which has the role `owner`. */
export function withAdminKey(routes: readonly AdminRoute[], store: Store): Route[] {
  const keys = new AdminKeys(store, systemClock, [{ name: "default", role: "owner", key: ADMIN_KEY }]);
  const wrongKeys = { refuse: (_address: string, error: GatewayError) => Promise.reject(error) };
  const access = { keys, audit: new AuditLog(store, null), wrongKeys, isApiKey: () => Promise.resolve(false) };
  return routes.map((route) => guarded(route, access));
}

/** Opens the admin endpoints over a new store. */
export async function openTestAdmin(
  { noBodiesReason = null }: { noBodiesReason?: string | null } = {},
): Promise<TestAdmin> {
  const clock = manualClock();
  const store = await openMemoryStore({ clock });
  const keys = createKeyRing({ store, clock });
  const readSpent = () => Promise.resolve({ charged: 0n, held: 0n });
  const meter = createMeter({ store, clock, log: silentLog, readSpent });
  const readJson = async ({ request }: { request: Request }) => JSON.parse(await request.text() || "{}") as JsonObject;
  const reads = { readJson, readOptionalJson: readJson };
  const erase = () => Promise.reject(new UnfinishedChangeError(UNFINISHED));
  const routes = withAdminKey(
    adminRoutes({ store, keys, meter, ...reads, accounts: [], noBodiesReason, erase }),
    store,
  );
  const authorization = { authorization: `Bearer ${ADMIN_KEY}` };
  return {
    store,
    clock,
    keys,
    meter,
    call: (method, path, body, headers = authorization) => dispatch(routes, method, path, body, headers),
  };
}

async function dispatch(
  routes: readonly Route[],
  method: string,
  pathAndQuery: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const [path, query = ""] = atLeast(`/admin/v1/accounts${pathAndQuery}`.split("?"), 1);
  const segments = path.split("/");
  for (const route of routes) {
    const pattern = route.path.split("/");
    const isMatch = route.method === method && pattern.length === segments.length &&
      pattern.every((part, i) => part.startsWith(":") || part === segments[i]);
    if (!isMatch) continue;
    const params = Object.fromEntries(
      pattern.flatMap((part, i) =>
        part.startsWith(":") ? [[part.slice(1), decodeURIComponent(itemAt(segments, i))]] : []
      ),
    );
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    return await answerOf(route, {
      request,
      method,
      path,
      endpoint: route,
      query,
      params,
      requestId: "req_test",
      receivedAt: 0,
      remote: "",
      memory: UNLIMITED_MEMORY.lease(),
      record: unobservedRecord(),
    });
  }
  throw new Error(`No route for ${method} ${path}`);
}

async function answerOf(route: Route, inbound: Parameters<Route["handler"]>[0]): Promise<Answer> {
  let response: Response;
  try {
    response = await route.handler(inbound);
  } catch (thrown) {
    response = route.renderError(gatewayErrorOf(thrown), inbound.requestId);
  }
  return { status: response.status, headers: response.headers, body: await response.json() };
}
