import type { AdminRole } from "../../../observers/audit/admin_role.ts";
import type { Endpoint } from "../../../platform/endpoints/endpoint.ts";
import type { Handler, Inbound, Route } from "../../../platform/http/request/inbound.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { renderAdminError } from "./answer.ts";

/** A route of the admin API. `guarded` makes it one that requires an admin key. */
export interface AdminRoute extends Route {
  /** The role that a key needs at least. */
  readonly role: AdminRole;
  /** Reads the object that the route changes, for the audit log; null if it does not exist. Default: none is read. */
  readonly snapshot?: (inbound: Inbound) => Promise<JsonObject | null>;
  /** Whether a request is recorded in the audit log. Default: for every method but GET. */
  readonly isAudited?: boolean | ((inbound: Inbound) => boolean);
  /** Whether the answer is kept in the audit log. Default: true. */
  readonly isResultAudited?: boolean;
  /** Shortens an answer for the audit log. Default: a large one has only its `id` there. */
  readonly auditedResult?: (body: JsonObject) => Promise<JsonObject>;
  /** Whether the response is an account that was created. Default: false. */
  readonly createsAccount?: boolean;
  /**
   * The names in the query of a GET. Others are refused. Null if the handler checks them. Default: none; any for
   * requests of monitoring.
   */
  readonly parameters?: readonly string[] | null;
}

/** The optional properties of an {@linkcode AdminRoute}. */
export type AdminRouteOptions = Partial<
  Pick<AdminRoute, "role" | "snapshot" | "isAudited" | "isResultAudited" | "createsAccount" | "parameters">
>;

/** What only owners read, since it has prompts, outputs or addresses of them. The audit log tells who did. */
export const PRIVATE_READ = { role: "owner", isAudited: true, isResultAudited: false } as const;

/** A route of the admin API. By default GET needs the role `read`, and every other method `write`. */
export function adminRoute(endpoint: Endpoint, handler: Handler, options: AdminRouteOptions = {}): AdminRoute {
  return {
    ...endpoint,
    handler,
    renderError: renderAdminError,
    role: endpoint.method === "GET" ? "read" : "write",
    ...options,
  };
}
