import { CALLER_ENDPOINTS as ENDPOINTS } from "../../../platform/endpoints/callers.ts";
import type { Route } from "../../../platform/http/request/inbound.ts";
import { defaultTextRoutes } from "../../../protocols/default/texts.ts";
import { lazyRoutesAt } from "../../../protocols/route_at.ts";
import type { TextRouteParts } from "../../../protocols/text_route_parts.ts";

/**
 * Builds the text endpoints of all protocols, on the main thread and in threads alike. Of the message and the content
 * protocol, the first request loads the code.
 */
export function createTextRoutes(parts: TextRouteParts): Route[] {
  return [
    ...defaultTextRoutes(parts),
    ...lazyRoutesAt([ENDPOINTS.createMessage, ENDPOINTS.countMessageTokens], async () => {
      return (await import("../../../protocols/message/messages.ts")).messageRoutes(parts);
    }),
    ...lazyRoutesAt([ENDPOINTS.generateContent, ENDPOINTS.streamGenerateContent, ENDPOINTS.countTokens], async () => {
      return (await import("../../../protocols/content/generate.ts")).contentRoutes(parts);
    }),
  ];
}
