import { DeclaredAccounts } from "../../billing/declared_accounts.ts";
import type { ConfiguredAccount } from "../../billing/configured_accounts.ts";
import type { KeyRing } from "../../billing/key_ring.ts";
import type { LedgerMeter } from "../../billing/meter.ts";
import type { Store } from "../../store/store.ts";
import {
  accountSnapshot,
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
import { type AdminRoute, adminRoutesBelow } from "./admin_route.ts";
import {
  changeKeyHandler,
  getKeyHandler,
  issueKeyHandler,
  keySnapshot,
  listKeysHandler,
  revokeKeyHandler,
  rotateKeyHandler,
} from "./keys.ts";
import { type EraseAccount, eraseHandler } from "./erasure.ts";
import { PAGE_PARAMETERS } from "./query.ts";
import { ledgerHandler } from "./ledger.ts";

/** The dependencies of the account endpoints. */
export interface AdminOptions {
  readonly store: Store;
  readonly keys: KeyRing;
  readonly meter: Pick<LedgerMeter, "invalidate" | "limitsLeft">;
  readonly readJson: ReadJson;
  /** Also accepts an empty body. */
  readonly readOptionalJson: ReadJson;
  /** The accounts of the configuration. What its file declares is not changed here. */
  readonly accounts: readonly ConfiguredAccount[];
  /** Why the gateway keeps no bodies, as a clause for people; null if it does. `capture` is refused then. */
  readonly noBodiesReason: string | null;
  readonly erase: EraseAccount;
}

const ROOT = "/admin/v1/accounts";

/** The account endpoints of the admin API. */
export function adminRoutes(options: AdminOptions): AdminRoute[] {
  const { store, keys, meter, readJson, readOptionalJson, accounts, noBodiesReason, erase } = options;
  const declared = new DeclaredAccounts(accounts, store);
  const route = adminRoutesBelow(ROOT);
  const ofAccount = { snapshot: accountSnapshot(store) };
  const ofKey = { snapshot: keySnapshot(store) };
  const changes = { store, keys, declared, readJson, noBodiesReason };
  const paged = { parameters: PAGE_PARAMETERS };
  const ordered = { parameters: [...PAGE_PARAMETERS, "order"] };
  return [
    route("POST", "", createAccountHandler({ store, readJson, declared, noBodiesReason }), { createsAccount: true }),
    route("GET", "", listAccountsHandler(store), paged),
    route("GET", "/:account", getAccountHandler(store, meter)),
    route("PATCH", "/:account", changeAccountHandler({ ...changes, meter }), ofAccount),
    route("POST", "/:account/credit", creditHandler(store, readJson, meter), ofAccount),
    route("POST", "/:account/adjust", adjustHandler(store, readJson, meter), ofAccount),
    route("POST", "/:account/buckets", bucketsHandler(store, readJson, declared), ofAccount),
    route("POST", "/:account/suspend", suspendHandler(store, keys), ofAccount),
    route("POST", "/:account/resume", resumeHandler(store, keys), ofAccount),
    route("POST", "/:account/erase", eraseHandler(erase, declared), { role: "owner" }),
    route("POST", "/:account/webhook-secret", rotateWebhookSecretHandler(store)),
    route("POST", "/:account/keys", issueKeyHandler({ store, readOptionalJson, noBodiesReason })),
    route("GET", "/:account/keys", listKeysHandler(store), ordered),
    route("GET", "/:account/keys/:key", getKeyHandler(store, meter)),
    route("PATCH", "/:account/keys/:key", changeKeyHandler(changes), ofKey),
    route("DELETE", "/:account/keys/:key", revokeKeyHandler(store, keys, declared), ofKey),
    route("POST", "/:account/keys/:key/rotate", rotateKeyHandler({ store, keys, declared, readOptionalJson }), ofKey),
    route("GET", "/:account/ledger", ledgerHandler(store), ordered),
  ];
}
