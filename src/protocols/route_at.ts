import { type Endpoint, type ErrorStyle, pathsOf } from "../platform/endpoints/endpoint.ts";
import type { ErrorRenderer, Handler, Route } from "../platform/http/request/inbound.ts";
import { lazyRoutes } from "../platform/http/lazy_routes.ts";
import { renderAdminError } from "./admin/shared/answer.ts";
import { renderContentError } from "./content/error.ts";
import { renderDefaultError } from "./default/error.ts";
import { renderVideoError } from "./default/videos/video_error.ts";
import { renderMessageError } from "./message/error.ts";

/** The renderers of errors by their style. */
const RENDERERS: Readonly<Record<ErrorStyle, ErrorRenderer>> = {
  default: renderDefaultError,
  video: renderVideoError,
  message: renderMessageError,
  content: renderContentError,
  admin: renderAdminError,
};

/** The routes of an endpoint: one for each of its paths. */
export function routesAt(endpoint: Endpoint, handler: Handler): Route[] {
  return unhandled(endpoint).map((route) => ({ ...route, handler }));
}

/** The routes of endpoints whose handlers are loaded by the first request to one of them, as `lazyRoutes` does. */
export function lazyRoutesAt(endpoints: readonly Endpoint[], load: () => Promise<readonly Route[]>): Route[] {
  return lazyRoutes(endpoints.flatMap(unhandled), load);
}

/** The renderer of an endpoint's errors. */
export function errorRendererOf({ errors = "default" }: Pick<Endpoint, "errors">): ErrorRenderer {
  return RENDERERS[errors];
}

function unhandled(endpoint: Endpoint): Omit<Route, "handler">[] {
  const { otherPaths: _, ...facts } = endpoint;
  const renderError = errorRendererOf(endpoint);
  return pathsOf(endpoint).map((path) => ({ ...facts, path, renderError }));
}
