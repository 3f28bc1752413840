import type { Route } from "../http/inbound.ts";
import { lazyRoutes } from "../http/lazy_routes.ts";
import { CONTENT_ENDPOINTS } from "../protocols/content/endpoints.ts";
import { renderContentError } from "../protocols/content/error.ts";
import { defaultTextRoutes } from "../protocols/default/texts.ts";
import { MESSAGE_ENDPOINTS } from "../protocols/message/endpoints.ts";
import { renderMessageError } from "../protocols/message/error.ts";
import type { TextRouteParts } from "../protocols/text_route_parts.ts";

/**
 * Builds the text endpoints of all protocols, on the main thread and in threads alike. Of the message and the content
 * protocol, the first request loads the code.
 */
export function createTextRoutes(parts: TextRouteParts): Route[] {
  return [
    ...defaultTextRoutes(parts),
    ...lazyRoutes(MESSAGE_ENDPOINTS, renderMessageError, async () => {
      return (await import("../protocols/message/messages.ts")).messageRoutes(parts);
    }),
    ...lazyRoutes(CONTENT_ENDPOINTS, renderContentError, async () => {
      return (await import("../protocols/content/generate.ts")).contentRoutes(parts);
    }),
  ];
}
