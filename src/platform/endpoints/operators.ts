import type { Endpoint } from "./endpoint.ts";
import { PROTOCOLS } from "./protocols.ts";

/** What all their paths begin with. */
export const ADMIN_ROOT = `${PROTOCOLS.admin.root}/v1`;

/**
 * The endpoints for operators. The names are those of the operations in the description of the interface.
 * Source: docs/api/admin.md.
 */
export const OPERATOR_ENDPOINTS = {
  createAccount: admin("POST", "/accounts"),
  listAccounts: admin("GET", "/accounts"),
  readAccount: admin("GET", "/accounts/:account"),
  changeAccount: admin("PATCH", "/accounts/:account"),
  creditAccount: admin("POST", "/accounts/:account/credit"),
  adjustAccount: admin("POST", "/accounts/:account/adjust"),
  setAccountBuckets: admin("POST", "/accounts/:account/buckets"),
  suspendAccount: admin("POST", "/accounts/:account/suspend"),
  resumeAccount: admin("POST", "/accounts/:account/resume"),
  eraseAccount: admin("POST", "/accounts/:account/erase"),
  rotateWebhookSecret: admin("POST", "/accounts/:account/webhook-secret"),
  issueKey: admin("POST", "/accounts/:account/keys"),
  listKeys: admin("GET", "/accounts/:account/keys"),
  readKey: admin("GET", "/accounts/:account/keys/:key"),
  changeKey: admin("PATCH", "/accounts/:account/keys/:key"),
  revokeKey: admin("DELETE", "/accounts/:account/keys/:key"),
  rotateKey: admin("POST", "/accounts/:account/keys/:key/rotate"),
  listLedger: admin("GET", "/accounts/:account/ledger"),

  listTasks: admin("GET", "/tasks"),
  readTask: admin("GET", "/tasks/:task"),
  mirrorTask: admin("POST", "/tasks/:task/mirror"),
  cancelTask: admin("POST", "/tasks/:task/cancel"),
  readTaskResults: admin("POST", "/tasks/:task/results"),
  listAllBatches: admin("GET", "/batches"),
  readAnyBatch: admin("GET", "/batches/:batch"),
  cancelAnyBatch: admin("POST", "/batches/:batch/cancel"),
  readBatchOutput: admin("GET", "/batches/:batch/output"),
  readBatchErrors: admin("GET", "/batches/:batch/errors"),
  listDeliveries: admin("GET", "/deliveries"),
  redeliverRange: admin("POST", "/deliveries/redeliver"),
  readDelivery: admin("GET", "/deliveries/:task"),
  readDeliveryRequest: admin("GET", "/deliveries/:task/request"),
  redeliver: admin("POST", "/deliveries/:task/redeliver"),
  readEvents: admin("GET", "/events"),
  createTestEvent: admin("POST", "/events"),
  openReceiver: admin("POST", "/webhook-receivers"),
  listReceivers: admin("GET", "/webhook-receivers"),
  readReceiver: admin("GET", "/webhook-receivers/:id"),
  closeReceiver: admin("DELETE", "/webhook-receivers/:id"),
  testReceiver: admin("POST", "/webhook-receivers/:id/test"),
  rotateSigningKeys: admin("POST", "/signing-keys/rotate"),
  listCaches: admin("GET", "/caches"),
  deleteCache: admin("DELETE", "/caches/:cache"),

  listAdminModels: admin("GET", "/models"),
  calculatePrice: admin("POST", "/models/price"),
  readPrices: admin("GET", "/prices"),
  listPrices: admin("GET", "/prices/models"),
  listPriceChanges: admin("GET", "/prices/history"),
  refreshPrices: admin("POST", "/prices/refresh"),
  applyPrices: admin("POST", "/prices/apply"),
  listProviders: admin("GET", "/providers"),
  testProvider: admin("POST", "/providers/:provider/test"),
  setProviderState: admin("PUT", "/providers/:provider/state"),
  resetProviderState: admin("DELETE", "/providers/:provider/state"),

  readUsage: admin("GET", "/usage"),
  reconcile: admin("GET", "/reconcile"),
  reconcileInvoice: admin("POST", "/reconcile"),
  readTraffic: admin("GET", "/traffic"),
  streamOverview: admin("GET", "/overview/events"),
  listAudit: admin("GET", "/audit"),
  listAdminKeys: admin("GET", "/admin-keys"),
  createAdminKey: admin("POST", "/admin-keys"),
  revokeAdminKey: admin("DELETE", "/admin-keys/:id"),
} satisfies Readonly<Record<string, Endpoint>>;

/** The endpoints of the log of requests. */
export const REQUEST_ENDPOINTS = {
  listRequests: admin("GET", "/requests"),
  readRequest: admin("GET", "/requests/:id"),
  readRequestBodies: admin("GET", "/requests/:id/bodies"),
} satisfies Readonly<Record<string, Endpoint>>;

/** The endpoints of the configuration. A gateway whose configuration is not changed has the first one only. */
export const CONFIG_ENDPOINTS = {
  readConfig: admin("GET", "/config"),
  replaceConfig: admin("PUT", "/config"),
  reloadConfig: admin("POST", "/config/reload"),
  listConfigVersions: admin("GET", "/config/versions"),
  restoreConfigVersion: admin("POST", "/config/versions/:version/restore"),
  setConfigEntry: admin("PUT", "/config/:section/:name*"),
  changeConfigEntry: admin("PATCH", "/config/:section/:name*"),
  deleteConfigEntry: admin("DELETE", "/config/:section/:name*"),
} satisfies Readonly<Record<string, Endpoint>>;

function admin<Method extends Endpoint["method"]>(
  method: Method,
  path: string,
): { method: Method; path: string; errors: "admin" } {
  return { method, path: ADMIN_ROOT + path, errors: "admin" };
}
