import type { KeyRing } from "../../billing/key_ring.ts";
import type { Meter } from "../../billing/meter.ts";
import type { Route } from "../../http/inbound.ts";
import type { Store } from "../../store/store.ts";
import {
  adjustHandler,
  bucketsHandler,
  changeAccountHandler,
  createAccountHandler,
  creditHandler,
  getAccountHandler,
  listAccountsHandler,
  type ReadJson,
  resumeHandler,
  rotateWebhookSecretHandler,
  suspendHandler,
} from "./accounts.ts";
import { guardedRoute } from "./guarded_route.ts";
import { changeKeyHandler, getKeyHandler, issueKeyHandler, listKeysHandler, revokeKeyHandler } from "./keys.ts";
import { ledgerHandler } from "./ledger.ts";

/** The dependencies of the account endpoints. */
export interface AdminOptions {
  /** The operator's key; if empty, the admin API is disabled. */
  readonly adminKey: string;
  readonly store: Store;
  readonly keys: KeyRing;
  readonly meter: Pick<Meter, "invalidate">;
  readonly readJson: ReadJson;
  /** Also accepts an empty body. */
  readonly readOptionalJson: ReadJson;
}

const ROOT = "/admin/v1/accounts";

/** The account endpoints of the admin API; empty without an admin key, so that all paths are 404. */
export function adminRoutes(options: AdminOptions): Route[] {
  const { adminKey, store, keys, meter, readJson, readOptionalJson } = options;
  if (adminKey === "") return [];
  const route = guardedRoute(adminKey, ROOT);
  return [
    route("POST", "", createAccountHandler(store, readJson)),
    route("GET", "", listAccountsHandler(store)),
    route("GET", "/:account", getAccountHandler(store)),
    route("PATCH", "/:account", changeAccountHandler({ store, keys, meter, readJson })),
    route("POST", "/:account/credit", creditHandler(store, readJson, meter)),
    route("POST", "/:account/adjust", adjustHandler(store, readJson, meter)),
    route("POST", "/:account/buckets", bucketsHandler(store, readJson)),
    route("POST", "/:account/suspend", suspendHandler(store, keys)),
    route("POST", "/:account/resume", resumeHandler(store, keys)),
    route("POST", "/:account/webhook-secret", rotateWebhookSecretHandler(store)),
    route("POST", "/:account/keys", issueKeyHandler(store, readOptionalJson)),
    route("GET", "/:account/keys", listKeysHandler(store)),
    route("GET", "/:account/keys/:key", getKeyHandler(store)),
    route("PATCH", "/:account/keys/:key", changeKeyHandler({ store, keys, readJson })),
    route("DELETE", "/:account/keys/:key", revokeKeyHandler(store, keys)),
    route("GET", "/:account/ledger", ledgerHandler(store)),
  ];
}
