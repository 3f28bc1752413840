import { Late } from "../lib/process/late.ts";
import type { Handler, Route } from "./request/inbound.ts";

/**
 * Builds routes whose handlers are loaded by the first request to one of them, so that endpoints that nobody calls take
 * no memory. Later requests share what the first one loaded. After a failed load, the next request tries again.
 *
 * @param routes The routes that `load` resolves with, without their handlers.
 * @throws {Error} From a handler, if `load` resolves without its route, which is a programming error.
 */
export function lazyRoutes(
  routes: readonly Omit<Route, "handler">[],
  load: () => Promise<readonly Route[]>,
): Route[] {
  const handlers = new Late(async () => new Map((await load()).map((route) => [keyOf(route), route.handler])));
  return routes.map((route) => {
    let loaded: Handler | null = null;
    const loadHandler = async (): Promise<Handler> => {
      const handler = (await handlers.load()).get(keyOf(route));
      if (handler === undefined) throw new Error(`No route was loaded for ${keyOf(route)}`);
      return loaded = handler;
    };
    // A loaded route is as fast as one that never had to be: no promise in between.
    const handler: Handler = (inbound) =>
      loaded === null ? loadHandler().then((handler) => handler(inbound)) : loaded(inbound);
    return { ...route, handler };
  });
}

function keyOf({ method, path }: Pick<Route, "method" | "path">): string {
  return `${method} ${path}`;
}
