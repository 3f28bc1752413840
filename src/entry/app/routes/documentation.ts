import { withSecurityHeaders } from "../../../console/security_headers.ts";
import { documentationHandlers } from "../../../protocols/documentation/handlers.ts";
import { DOCUMENTATION_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/service.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { routesAt } from "../../../protocols/route_at.ts";

/** The pages of the documentation, with the header fields that keep browsers from loading anything else. */
export function createDocumentationRoutes(baseUrl: () => string): Route[] {
  const { describe, firstPage, page } = documentationHandlers(baseUrl);
  return [
    ...routesAt(ENDPOINTS.readDescription, describe),
    ...routesAt(ENDPOINTS.readDocumentation, firstPage),
    ...routesAt(ENDPOINTS.readDocumentationPage, page),
  ].map((route) => ({
    ...route,
    handler: async (inbound) => withSecurityHeaders(await route.handler(inbound), true),
  }));
}
