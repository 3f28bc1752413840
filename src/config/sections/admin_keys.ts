import type { ConfiguredAdminKey } from "../../observers/audit/admin_keys.ts";
import { ADMIN_ROLES } from "../../observers/audit/admin_role.ts";

/** The admin keys of the `server` section. */
export interface AdminKeySettings {
  readonly adminKey: string | null;
  readonly adminKeys: readonly ConfiguredAdminKey[];
}

/** The name of `server.admin_key`. */
export const DEFAULT_ADMIN_KEY = "default";

/** All admin keys of the configuration, `server.admin_key` first. */
export function configuredAdminKeys({ adminKey, adminKeys }: AdminKeySettings): ConfiguredAdminKey[] {
  const own = adminKey === null ? [] : [{ name: DEFAULT_ADMIN_KEY, role: "owner", key: adminKey } as const];
  return [...own, ...adminKeys];
}

/** The admin key that commands send: `server.admin_key`, else the first one with the highest role; null without any. */
export function commandKeyOf(server: AdminKeySettings): string | null {
  const keys = configuredAdminKeys(server);
  for (const role of ADMIN_ROLES.toReversed()) {
    const found = keys.find((key) => key.role === role);
    if (found !== undefined) return found.key;
  }
  return null;
}
