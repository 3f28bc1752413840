import type { Endpoint } from "./endpoint.ts";

/** The endpoints for monitoring. */
export const SERVICE_ENDPOINTS = {
  /** Answered by the front door, as it needs no route. */
  readService: { method: "GET", path: "/" },
  readHealth: { method: "GET", path: "/healthz", isProbe: true },
  readReadiness: { method: "GET", path: "/readyz", isProbe: true },
  /** At the gateway's own address it needs an admin key. */
  readMetrics: { method: "GET", path: "/metrics", errors: "admin", isProbe: true },
} satisfies Readonly<Record<string, Endpoint>>;

/** The first segment of the documentation's paths. */
export const DOCUMENTATION_ROOT = "/docs";

/** The documentation, which needs no key. */
export const DOCUMENTATION_ENDPOINTS = {
  readDescription: { method: "GET", path: "/openapi.json" },
  readDocumentation: { method: "GET", path: DOCUMENTATION_ROOT },
  readDocumentationPage: { method: "GET", path: `${DOCUMENTATION_ROOT}/:path*` },
} satisfies Readonly<Record<string, Endpoint>>;

/** The first segment of the console's paths. */
export const CONSOLE_ROOT = "/console";

/** What the console's own API begins with; behind it is the path of any other endpoint. */
export const CONSOLE_API = `${CONSOLE_ROOT}/api`;

/**
 * The addresses of the web console. An open page reads again and again, which would fill the log of requests; failures
 * are logged.
 */
export const CONSOLE_ENDPOINTS = {
  readFirstPage: { method: "GET", path: CONSOLE_ROOT, isProbe: true },
  readPage: { method: "GET", path: `${CONSOLE_ROOT}/:path*`, isProbe: true },
  readAsset: { method: "GET", path: `${CONSOLE_ROOT}/assets/:name`, isProbe: true },
  readSession: { method: "GET", path: `${CONSOLE_ROOT}/session`, isProbe: true },
  signIn: { method: "POST", path: `${CONSOLE_ROOT}/session` },
  signOut: { method: "DELETE", path: `${CONSOLE_ROOT}/session` },
  read: { method: "GET", path: `${CONSOLE_API}/:path*`, isProbe: true },
  create: { method: "POST", path: `${CONSOLE_API}/:path*` },
  replace: { method: "PUT", path: `${CONSOLE_API}/:path*` },
  change: { method: "PATCH", path: `${CONSOLE_API}/:path*` },
  remove: { method: "DELETE", path: `${CONSOLE_API}/:path*` },
} satisfies Readonly<Record<string, Endpoint>>;
