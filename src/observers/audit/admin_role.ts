/** What an admin key may do: `read` everything except secrets; `write` also changes; `owner` also configuration. */
export type AdminRole = "read" | "write" | "owner";

/** All roles, each including those before it. */
export const ADMIN_ROLES: readonly AdminRole[] = ["read", "write", "owner"];

/** Whether a role includes another. */
export function includesRole(role: AdminRole, needed: AdminRole): boolean {
  return ADMIN_ROLES.indexOf(role) >= ADMIN_ROLES.indexOf(needed);
}
