import { AdminKeys, type ConfiguredAdminKey } from "../../../observers/audit/admin_keys.ts";
import { AuditLog } from "../../../observers/audit/audit_log.ts";
import { isApiKey } from "../../../money/billing/keys/issued_key.ts";
import type { Config } from "../../../config/config.ts";
import { configuredAdminKeys } from "../../../config/sections/admin_keys.ts";
import type { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { Store } from "../../../platform/store/store.ts";

/** Who may use the admin API of a gateway, and the record of what they change. */
export interface AdminAccess {
  readonly keys: AdminKeys;
  readonly audit: AuditLog;
  readonly wrongKeys: WrongKeys;
  readonly isApiKey: (secret: string) => Promise<boolean>;
}

/** Returns the test whether a secret is one of the admin keys, of the configuration or of the store. */
export function adminKeyTest(
  { server }: Pick<Config, "server">,
  store: Store,
  clock: Clock,
): (secret: string) => Promise<boolean> {
  const keys = new AdminKeys(store, clock, configuredAdminKeys(server));
  return async (secret) => await keys.identify(secret) !== null;
}

/** Options of {@linkcode openAdminAccess}. */
export interface AdminAccessOptions {
  readonly config: Pick<Config, "server" | "retention">;
  readonly store: Store;
  readonly clock: Clock;
  readonly wrongKeys: WrongKeys;
}

/** Opens the admin keys and the audit log; null without an admin key, so that there is no admin API. */
export function openAdminAccess(options: AdminAccessOptions): AdminAccess | null {
  const configured = configuredAdminKeys(options.config.server);
  return configured.length === 0 ? null : adminAccessWith(configured, options);
}

/** Opens the audit log and the admin keys of the store, beside the configured ones. */
export function adminAccessWith(configured: readonly ConfiguredAdminKey[], options: AdminAccessOptions): AdminAccess {
  const { config: { retention }, store, clock, wrongKeys } = options;
  return {
    keys: new AdminKeys(store, clock, configured),
    audit: new AuditLog(store, retention.auditMs),
    wrongKeys,
    isApiKey: (secret) => isApiKey(store, secret),
  };
}
