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
  let loading: Promise<ReadonlyMap<string, Handler>> | null = null;
  const handlers = () =>
    loading ??= load().then(
      (routes) => new Map(routes.map((route) => [keyOf(route), route.handler])),
      (error) => {
        loading = null;
        throw error;
      },
    );
  return endpoints.map((endpoint) => {
    let loaded: Handler | null = null;
    const loadHandler = async (): Promise<Handler> => {
      const handler = (await handlers()).get(keyOf(endpoint));
      if (handler === undefined) throw new Error(`No route was loaded for ${keyOf(endpoint)}`);
      return loaded = handler;
    };
    // A loaded route is as fast as one that never had to be: no promise in between.
    const handler: Handler = (inbound) =>
      loaded === null ? loadHandler().then((handler) => handler(inbound)) : loaded(inbound);
    return { ...endpoint, renderError, handler };
  });
}

function keyOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}
