import { withSecurityHeaders } from "../console/security_headers.ts";
import { type DocumentationOptions, documentationRoutes } from "../documentation/routes.ts";
import type { Route } from "../http/inbound.ts";

/** The pages of the documentation, with the header fields that keep browsers from loading anything else. */
export function createDocumentationRoutes(options: DocumentationOptions): Route[] {
  return documentationRoutes(options).map((route) => ({
    ...route,
    handler: async (inbound) => withSecurityHeaders(await route.handler(inbound), true),
  }));
}
