import type { ErrorRenderer, Handler, Route } from "./inbound.ts";

/** The method and path of an endpoint. */
export type Endpoint = Pick<Route, "method" | "path">;

/**
 * Builds routes whose handlers are loaded by the first request to one of them, so that endpoints that nobody calls take
 * no memory. Later requests share what the first one loaded. After a failed load, the next request tries again.
 *
 * @param endpoints The routes that `load` resolves with.
 * @param renderError Renders the errors of all of them. It does not wait for `load`.
 * @throws {Error} From a handler, if `load` resolves without its route, which is a programming error.
 */
export function lazyRoutes(
  endpoints: readonly Endpoint[],
  renderError: ErrorRenderer,
  load: () => Promise<readonly Route[]>,
): Route[] {
  let loaded: Promise<ReadonlyMap<string, Handler>> | null = null;
  const handlers = () =>
    loaded ??= load().then(
      (routes) => new Map(routes.map((route) => [keyOf(route), route.handler])),
      (error) => {
        loaded = null;
        throw error;
      },
    );
  return endpoints.map((endpoint) => ({
    ...endpoint,
    renderError,
    handler: async (inbound) => {
      const handler = (await handlers()).get(keyOf(endpoint));
      if (handler === undefined) throw new Error(`No route was loaded for ${keyOf(endpoint)}`);
      return await handler(inbound);
    },
  }));
}

function keyOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}
