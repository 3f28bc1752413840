import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { Inbound, Route } from "../../src/platform/http/request/inbound.ts";
import { lazyRoutes } from "../../src/platform/http/lazy_routes.ts";
import { itemAt } from "../support/items.ts";

const renderError = () => new Response(null, { status: 500 });
const ENDPOINTS = [{ method: "GET", path: "/a", renderError }, { method: "POST", path: "/a", renderError }] as const;
const inbound = {} as Inbound;

function loadedRoute(endpoint: Pick<Route, "method" | "path">): Route {
  return { ...endpoint, renderError, handler: () => new Response(endpoint.method) };
}

async function textOf(route: Route): Promise<string> {
  return await (await route.handler(inbound)).text();
}

Deno.test("lazyRoutes() loads at the first request, once, and gives each route its own handler", async () => {
  let loads = 0;
  const [get, post] = lazyRoutes(ENDPOINTS, () => {
    loads++;
    return Promise.resolve(ENDPOINTS.map(loadedRoute));
  }) as [Route, Route];
  assertEquals([get.method, get.path, get.renderError, loads], ["GET", "/a", renderError, 0]);
  assertEquals(await Promise.all([textOf(get), textOf(post), textOf(get)]), ["GET", "POST", "GET"]);
  assertEquals(loads, 1);
});

Deno.test("lazyRoutes() calls a loaded handler without a promise in between", async () => {
  const response = new Response("at once");
  const [endpoint] = ENDPOINTS;
  const load = () => Promise.resolve([{ ...endpoint, handler: () => response }]);
  const route = itemAt(lazyRoutes([endpoint], load), 0);
  await route.handler(inbound);
  assertStrictEquals(route.handler(inbound), response);
});

Deno.test("lazyRoutes() loads again after a failed load", async () => {
  let loads = 0;
  const routes = lazyRoutes(ENDPOINTS, () => {
    return loads++ === 0 ? Promise.reject(new Error("no file")) : Promise.resolve(ENDPOINTS.map(loadedRoute));
  });
  await assertRejects(() => textOf(itemAt(routes, 0)), Error, "no file");
  assertEquals(await textOf(itemAt(routes, 0)), "GET");
});

Deno.test("lazyRoutes() reports a route that was not loaded", async () => {
  const routes = lazyRoutes(ENDPOINTS, () => Promise.resolve([loadedRoute(ENDPOINTS[0])]));
  await assertRejects(() => textOf(itemAt(routes, 1)), Error, "No route was loaded for POST /a");
});
