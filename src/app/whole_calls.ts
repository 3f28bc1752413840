import type { Route } from "../http/inbound.ts";
import { lazyRoutes } from "../http/lazy_routes.ts";
import { EMBED_ENDPOINTS } from "../protocols/content/embed_endpoints.ts";
import { renderContentError } from "../protocols/content/error.ts";
import { renderDefaultError } from "../protocols/default/error.ts";
import type { Services } from "./services.ts";

const DEFAULT_ENDPOINTS = [
  { method: "POST", path: "/v1/embeddings" },
  { method: "POST", path: "/v1/moderations" },
  { method: "POST", path: "/v1/rerank" },
  { method: "POST", path: "/v1/audio/speech" },
  { method: "POST", path: "/v1/audio/transcriptions" },
  { method: "POST", path: "/v1/audio/translations" },
] as const;

/** Builds the endpoints that answer a request in one piece. The first request to one of them loads their code. */
export function createWholeCallRoutes(services: Services): Route[] {
  const load = async () => (await import("./whole_call_routes.ts")).buildWholeCallRoutes(services);
  return [
    ...lazyRoutes(DEFAULT_ENDPOINTS, renderDefaultError, async () => (await load()).default),
    ...lazyRoutes(EMBED_ENDPOINTS, renderContentError, async () => (await load()).content),
  ];
}
