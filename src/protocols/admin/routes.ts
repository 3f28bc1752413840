import { DeclaredAccounts } from "../../money/billing/declared/declared_accounts.ts";
import type { ConfiguredAccount } from "../../money/billing/declared/configured_accounts.ts";
import type { KeyRing } from "../../money/billing/keys/key_ring.ts";
import type { LedgerMeter } from "../../money/billing/meter/meter.ts";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import type { Store } from "../../platform/store/store.ts";
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
import { type AdminRoute, adminRoute } from "./shared/admin_route.ts";
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
import { PAGE_PARAMETERS } from "./shared/query.ts";
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

/** The account endpoints of the admin API. */
export function adminRoutes(options: AdminOptions): AdminRoute[] {
  const { store, keys, meter, readJson, readOptionalJson, accounts, noBodiesReason, erase } = options;
  const declared = new DeclaredAccounts(accounts, store);
  const ofAccount = { snapshot: accountSnapshot(store) };
  const ofKey = { snapshot: keySnapshot(store) };
  const changes = { store, keys, declared, readJson, noBodiesReason };
  const paged = { parameters: PAGE_PARAMETERS };
  const ordered = { parameters: [...PAGE_PARAMETERS, "order"] };
  return [
    adminRoute(OPERATOR_ENDPOINTS.createAccount, createAccountHandler({ store, readJson, declared, noBodiesReason }), {
      createsAccount: true,
    }),
    adminRoute(OPERATOR_ENDPOINTS.listAccounts, listAccountsHandler(store), paged),
    adminRoute(OPERATOR_ENDPOINTS.readAccount, getAccountHandler(store, meter)),
    adminRoute(OPERATOR_ENDPOINTS.changeAccount, changeAccountHandler({ ...changes, meter }), ofAccount),
    adminRoute(OPERATOR_ENDPOINTS.creditAccount, creditHandler(store, readJson, meter), ofAccount),
    adminRoute(OPERATOR_ENDPOINTS.adjustAccount, adjustHandler(store, readJson, meter), ofAccount),
    adminRoute(OPERATOR_ENDPOINTS.setAccountBuckets, bucketsHandler(store, readJson, declared), ofAccount),
    adminRoute(OPERATOR_ENDPOINTS.suspendAccount, suspendHandler(store, keys), ofAccount),
    adminRoute(OPERATOR_ENDPOINTS.resumeAccount, resumeHandler(store, keys), ofAccount),
    adminRoute(OPERATOR_ENDPOINTS.eraseAccount, eraseHandler(erase, declared), { role: "owner" }),
    adminRoute(OPERATOR_ENDPOINTS.rotateWebhookSecret, rotateWebhookSecretHandler(store)),
    adminRoute(OPERATOR_ENDPOINTS.issueKey, issueKeyHandler({ store, readOptionalJson, noBodiesReason })),
    adminRoute(OPERATOR_ENDPOINTS.listKeys, listKeysHandler(store), ordered),
    adminRoute(OPERATOR_ENDPOINTS.readKey, getKeyHandler(store, meter)),
    adminRoute(OPERATOR_ENDPOINTS.changeKey, changeKeyHandler(changes), ofKey),
    adminRoute(OPERATOR_ENDPOINTS.revokeKey, revokeKeyHandler(store, keys, declared), ofKey),
    adminRoute(OPERATOR_ENDPOINTS.rotateKey, rotateKeyHandler({ store, keys, declared, readOptionalJson }), ofKey),
    adminRoute(OPERATOR_ENDPOINTS.listLedger, ledgerHandler(store), ordered),
  ];
}
