import type { Handler, Route } from "../../http/inbound.ts";
import { adminGuard } from "./admin_key.ts";
import { renderAdminError } from "./answer.ts";

/** Makes lines of the address table that only the operator's key opens. */
export type GuardedRoute = (method: Route["method"], path: string, handler: Handler) => Route;

/**
 * Routes below one root of the administration, guarded by the admin key and failing in its shape.
 *
 * @param adminKey Not empty; see {@linkcode adminGuard}.
 * @param root What every path begins with.
 */
export function guardedRoute(adminKey: string, root: string): GuardedRoute {
  const guard = adminGuard(adminKey);
  return (method, path, handler) => ({
    method,
    path: root + path,
    handler: guard(handler),
    renderError: renderAdminError,
  });
}
