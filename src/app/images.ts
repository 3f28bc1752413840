import type { Route } from "../http/inbound.ts";
import { type Endpoint, lazyRoutes } from "../http/lazy_routes.ts";
import { renderDefaultError } from "../protocols/default/error.ts";
import type { Services } from "./services.ts";

const ENDPOINTS: readonly Endpoint[] = [
  { method: "POST", path: "/v1/images/generations" },
  { method: "POST", path: "/v1/images/edits" },
];

/** Builds the image endpoints. The first request to one of them loads their code. */
export function createImageRoutes(services: Services): Route[] {
  return lazyRoutes(
    ENDPOINTS,
    renderDefaultError,
    async () => (await import("./image_routes.ts")).buildImageRoutes(services),
  );
}
