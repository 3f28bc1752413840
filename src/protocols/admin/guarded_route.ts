import type { Handler, Route } from "../../http/inbound.ts";
import { adminGuard } from "./admin_key.ts";
import { renderAdminError } from "./answer.ts";

/** Creates routes that require the operator's key. */
export type GuardedRoute = (method: Route["method"], path: string, handler: Handler) => Route;

/**
 * Creates routes below one path of the admin API, protected by the admin key and with its error format.
 *
 * @param adminKey Not empty; see {@linkcode adminGuard}.
 * @param root The prefix of every path.
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
