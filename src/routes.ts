import type { CacheEngine } from "./cache_engine.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Authenticate } from "./billing/authenticate.ts";
import type { BodyLimits } from "./http/body.ts";
import type { Handler, Route } from "./http/inbound.ts";
import { renderAdminError } from "./protocols/admin/answer.ts";
import { renderContentError } from "./protocols/content/error.ts";
import { contentRoutes } from "./protocols/content/generate.ts";
import { contentModelRoutes } from "./protocols/content/models.ts";
import { renderDefaultError } from "./protocols/default/error.ts";
import { defaultModelRoutes } from "./protocols/default/models.ts";
import { defaultTextRoutes } from "./protocols/default/texts.ts";
import { renderVideoError } from "./protocols/default/videos.ts";
import { renderMessageError } from "./protocols/message/error.ts";
import { messageRoutes } from "./protocols/message/messages.ts";
import { messageModelRoutes } from "./protocols/message/models.ts";
import type { Section } from "./router.ts";
import type { TextTurns } from "./texts/turn.ts";

/** What the endpoints are made with. */
export interface RouteParts {
  readonly catalog: Catalog;
  readonly turns: TextTurns;
  readonly caches: Pick<CacheEngine, "caches" | "routes">;
  readonly images: readonly Route[];
  readonly videos: readonly Route[];
  readonly authenticate: Authenticate;
  readonly textBody: BodyLimits;
  /** Answers `GET /readyz`. */
  readonly readiness: Handler;
  readonly admin: readonly Route[];
}

/** How failures are reported below each prefix, also where no route matches; elsewhere as in the default protocol. */
export const ERROR_SECTIONS: readonly Section[] = [
  { prefix: "/msgcompat", renderError: renderMessageError },
  { prefix: "/gencompat", renderError: renderContentError },
  { prefix: "/admin", renderError: renderAdminError },
  { prefix: "/v1/videos", renderError: renderVideoError },
  { prefix: "/files", renderError: renderVideoError },
];

/** The address table. */
export function routesOf(
  { catalog, turns, caches, images, videos, authenticate, textBody, readiness, admin }: RouteParts,
): Route[] {
  const textParts = { turns, caches: caches.caches, authenticate, bodyLimits: textBody };
  return [
    ...defaultTextRoutes(textParts),
    ...messageRoutes(textParts),
    ...contentRoutes(textParts),
    ...caches.routes,
    ...images,
    ...videos,
    ...defaultModelRoutes(catalog, renderDefaultError),
    ...messageModelRoutes(catalog, renderMessageError),
    ...contentModelRoutes(catalog, renderContentError),
    ...admin,
    { method: "GET", path: "/healthz", handler: () => new Response("ok\n"), renderError: renderDefaultError },
    { method: "GET", path: "/readyz", handler: readiness, renderError: renderDefaultError },
  ];
}
