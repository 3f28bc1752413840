import type { AdminIdentity, AdminKeys } from "../../observers/audit/admin_keys.ts";
import { type AdminRole, includesRole } from "../../observers/audit/admin_role.ts";
import type { AuditLog } from "../../observers/audit/audit_log.ts";
import type { Inbound, Route } from "../../platform/http/request/inbound.ts";
import type { WrongKeys } from "../../platform/http/wrong_keys.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../platform/lib/json/json_object.ts";
import type { AdminRoute } from "./shared/admin_route.ts";
import { UnfinishedChangeError } from "./shared/unfinished_change.ts";
import { refuseUnknownParameters } from "./shared/query.ts";

/** The account of the operator's requests in the memory budget; no account can have this id. */
const OPERATOR = "(operator)";
const API_KEY = "it is an API key, for requests to models; send server.admin_key, or a key that " +
  '"switchyard admin-keys create NAME" creates';
const BEARER = /^bearer +(\S+) *$/i;

/** What identifies operators. */
export interface AdminGuard {
  readonly keys: Pick<AdminKeys, "identify">;
  /** Delays the errors of wrong keys. */
  readonly wrongKeys: Pick<WrongKeys, "refuse">;
  /** Whether a secret is one of a caller's API key, which the refusal then says. */
  readonly isApiKey: (secret: string) => Promise<boolean>;
}

/** Who may use the admin API, and the record of what they change. */
export interface AdminAccessParts extends AdminGuard {
  readonly audit: AuditLog;
}

/**
 * Returns a route that requires an admin key with the route's role, and records changes in the audit log. The entry is
 * durable before the change, so that no change is without one.
 */
export function guarded(route: AdminRoute, access: AdminAccessParts): Route {
  const { method, path, renderError, role, isProbe = false } = route;
  const { isAudited = method !== "GET" } = route;
  const { parameters: own = [] } = route;
  const parameters = method !== "GET" || isProbe ? null : own;
  return {
    method,
    path,
    renderError,
    isProbe,
    async handler(inbound) {
      const identity = await requireRole(inbound, role, access);
      inbound.memory.assignTo(OPERATOR);
      inbound.operator = identity.name;
      inbound.isOwner = includesRole(identity.role, "owner");
      if (parameters !== null) refuseUnknownParameters(inbound.query, parameters);
      const isDryRun = inbound.query !== "" && new URLSearchParams(inbound.query).get("dry_run") === "true";
      return !isDryRun && (typeof isAudited === "function" ? isAudited(inbound) : isAudited)
        ? await audited(route, inbound, identity, access.audit)
        : await route.handler(inbound);
    },
  };
}

/**
 * Returns who sent a request, if the admin key has the role.
 *
 * @throws {GatewayError} `unauthorized` without a key, `invalid_api_key` with another, `permission_denied` without the
 * role.
 */
export async function requireRole(
  { request, remote }: Pick<Inbound, "request" | "remote">,
  role: AdminRole,
  { keys, wrongKeys, isApiKey }: AdminGuard,
): Promise<AdminIdentity> {
  const sent = keyIn(request);
  if (sent === null) {
    throw new GatewayError("unauthorized", 'Cannot authenticate: expected "Authorization: Bearer" and the admin key');
  }
  const identity = await keys.identify(sent);
  if (identity === null) {
    const reason = await isApiKey(sent) ? API_KEY : "it is unknown";
    const error = new GatewayError("invalid_api_key", `Cannot accept the admin key: ${reason}`);
    return await wrongKeys.refuse(remote, error);
  }
  if (!includesRole(identity.role, role)) {
    throw new GatewayError(
      "permission_denied",
      `Cannot accept the admin key: its role is "${identity.role}", and this request needs "${role}"`,
    );
  }
  return identity;
}

/** Whether the admin key of a request that was accepted is still one. Every role reads. */
export async function isStillOperator(
  { request }: Pick<Inbound, "request">,
  { keys }: Pick<AdminGuard, "keys">,
): Promise<boolean> {
  const sent = keyIn(request);
  return sent !== null && await keys.identify(sent) !== null;
}

function keyIn({ headers }: Request): string | null {
  return BEARER.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

/**
 * The name of the admin key that a request of a {@linkcode guarded} route is from.
 *
 * @throws {Error} If the route is not guarded, which is a programming error.
 */
export function operatorOf({ operator }: Pick<Inbound, "operator">): string {
  if (operator === undefined) throw new Error("The request was not authenticated as one of an operator");
  return operator;
}

async function audited(
  { handler, snapshot, createsAccount = false, isResultAudited = true, auditedResult }: AdminRoute,
  inbound: Inbound,
  { name }: AdminIdentity,
  audit: AuditLog,
): Promise<Response> {
  const { requestId, method, path, params, remote } = inbound;
  const before = snapshot === undefined ? null : await snapshot(inbound);
  const actor = { name, address: remote === "" ? null : remote };
  const account = params.account ?? null;
  const change = await audit.begin({ actor, requestId, method, path, account, before });
  let response: Response;
  try {
    response = await handler(inbound);
  } catch (error) {
    // After any other error it is not known whether something was changed.
    const isRefused = error instanceof GatewayError && !(error instanceof UnfinishedChangeError) && error.status < 500;
    if (isRefused) await change.refused();
    throw error;
  }
  if (response.status >= 400) {
    await change.refused();
    return response;
  }
  const after = isResultAudited ? await bodyOf(response.clone()) : null;
  const shown = after === null || auditedResult === undefined ? after : await auditedResult(after);
  await change.done(shown, createsAccount && typeof after?.id === "string" ? after.id : account);
  return response;
}

async function bodyOf(response: Response): Promise<JsonObject | null> {
  if (response.status === 204) return null;
  const body = await response.json();
  return typeof body === "object" && body !== null && !Array.isArray(body) ? body : null;
}
