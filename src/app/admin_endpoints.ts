import type { Endpoint } from "../http/lazy_routes.ts";

/**
 * The addresses of the admin API, without its code: a gateway loads that for the first request to one of them. The
 * handlers are in `admin.ts`.
 */

type Method = Endpoint["method"];

/** Methods by path below {@linkcode ROOT}. */
type Methods = Readonly<Record<string, readonly Method[]>>;

const ROOT = "/admin/v1";

/** The endpoints of accounts, tasks, deliveries, providers and operators. */
export const ADMIN_ENDPOINTS: readonly Endpoint[] = endpointsOf({
  "/accounts": ["POST", "GET"],
  "/accounts/:account": ["GET", "PATCH"],
  "/accounts/:account/credit": ["POST"],
  "/accounts/:account/adjust": ["POST"],
  "/accounts/:account/buckets": ["POST"],
  "/accounts/:account/suspend": ["POST"],
  "/accounts/:account/resume": ["POST"],
  "/accounts/:account/erase": ["POST"],
  "/accounts/:account/webhook-secret": ["POST"],
  "/accounts/:account/keys": ["POST", "GET"],
  "/accounts/:account/keys/:key": ["GET", "PATCH", "DELETE"],
  "/accounts/:account/keys/:key/rotate": ["POST"],
  "/accounts/:account/ledger": ["GET"],
  "/caches": ["GET"],
  "/caches/:cache": ["DELETE"],
  "/deliveries": ["GET"],
  "/deliveries/redeliver": ["POST"],
  "/deliveries/:task": ["GET"],
  "/deliveries/:task/request": ["GET"],
  "/deliveries/:task/redeliver": ["POST"],
  "/events": ["GET", "POST"],
  "/webhook-receivers": ["POST", "GET"],
  "/webhook-receivers/:id": ["GET", "DELETE"],
  "/webhook-receivers/:id/test": ["POST"],
  "/tasks": ["GET"],
  "/tasks/:task": ["GET"],
  "/tasks/:task/mirror": ["POST"],
  "/tasks/:task/cancel": ["POST"],
  "/tasks/:task/results": ["POST"],
  "/models": ["GET"],
  "/models/price": ["POST"],
  "/prices": ["GET"],
  "/prices/models": ["GET"],
  "/prices/history": ["GET"],
  "/prices/refresh": ["POST"],
  "/prices/apply": ["POST"],
  "/providers": ["GET"],
  "/providers/:provider/test": ["POST"],
  "/providers/:provider/state": ["PUT", "DELETE"],
  "/usage": ["GET"],
  "/reconcile": ["GET", "POST"],
  "/traffic": ["GET"],
  "/overview/events": ["GET"],
  "/signing-keys/rotate": ["POST"],
  "/audit": ["GET"],
  "/admin-keys": ["GET", "POST"],
  "/admin-keys/:id": ["DELETE"],
});

/** The endpoints of the log of requests. */
export const REQUEST_ENDPOINTS: readonly Endpoint[] = endpointsOf({
  "/requests": ["GET"],
  "/requests/:id": ["GET"],
  "/requests/:id/bodies": ["GET"],
});

/** The endpoints of the configuration, which a running gateway has. */
export const CONFIG_ENDPOINTS: readonly Endpoint[] = endpointsOf({
  "/config": ["GET", "PUT"],
  "/config/reload": ["POST"],
  "/config/versions": ["GET"],
  "/config/versions/:version/restore": ["POST"],
  "/config/:section/:name*": ["PUT", "PATCH", "DELETE"],
});

/** Those of a gateway whose configuration is not changed. */
export const SHOWN_CONFIG_ENDPOINTS: readonly Endpoint[] = endpointsOf({ "/config": ["GET"] });

/** The addresses of the web console. */
export const CONSOLE_ENDPOINTS: readonly Endpoint[] = endpointsOf({
  "": ["GET"],
  "/:path*": ["GET"],
  "/assets/:name": ["GET"],
  "/session": ["GET", "POST", "DELETE"],
  "/api/:path*": ["GET", "POST", "PUT", "PATCH", "DELETE"],
}, "/console");

function endpointsOf(methods: Methods, root = ROOT): Endpoint[] {
  return Object.entries(methods).flatMap(([path, each]) => each.map((method) => ({ method, path: root + path })));
}
