import { withSecurityHeaders } from "../console/security_headers.ts";
import { documentationRoutes } from "../documentation/routes.ts";
import type { ErrorRenderer, Route } from "../http/inbound.ts";

/** The pages of the documentation, with the header fields that keep browsers from loading anything else. */
export function createDocumentationRoutes(renderError: ErrorRenderer): Route[] {
  return documentationRoutes(renderError).map((route) => ({
    ...route,
    handler: async (inbound) => withSecurityHeaders(await route.handler(inbound)),
  }));
}
