import { type Catalog, createCatalog, type DatedCatalog } from "../../src/vendors/catalog/catalog.ts";
import { type Model, readModel } from "../../src/vendors/catalog/model.ts";
import type { ErrorRenderer, Route } from "../../src/platform/http/request/inbound.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { gatewayErrorOf } from "../../src/platform/lib/basics/gateway_error.ts";
import { createRouter } from "../../src/entry/app/routing/router.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";

/** Reads a model from its written form; the provider is `one` by default. */
export function modelOf(fields: Record<string, unknown>): Model {
  return readModel({ serves: [{ provider: "one" }], ...fields });
}

/** A catalog of two vendors with text models, and one model of each kind of image series and of video. */
export function sampleCatalog(): Catalog & DatedCatalog {
  return createCatalog([
    modelOf({
      id: "lumen/talk-2",
      canonical_slug: "lumen/talk-2-2026-05",
      name: "Lumen Talk 2",
      description: "Talks.",
      created: "2026-05-04",
      context_length: 200_000,
      architecture: { input_modalities: ["text", "image"], tokenizer: "Lumen" },
      pricing: { prompt: "0.000001", completion: "0.000002", input_cache_write_5m: "0.00000125" },
      top_provider: { max_completion_tokens: 8192, is_moderated: true },
      supported_parameters: ["temperature", "tools"],
      expiration_date: "2027-05-04",
    }),
    modelOf({ id: "lumen/paint-1", image: { edits: true } }),
    modelOf({ id: "lumen/both-1", image: { series: "multimodal" } }),
    modelOf({ id: "lumen/reel-1", video: { modes: ["text2video"], price_per_second: { default: "0.1" } } }),
    modelOf({ id: "other/talk-9" }),
    modelOf({ id: "film/reel-1", video: { modes: ["text2video"], price_per_second: { "720p": "0.1" } } }),
  ]);
}

/** Renders an error's status, code and message. */
const plainErrors: ErrorRenderer = (error, requestId) =>
  Response.json({ code: error.code, message: error.message, requestId }, { status: error.status });

/** The routes with errors that show code and message in every protocol. */
export function withPlainErrors(routes: readonly Route[]): Route[] {
  return routes.map((route) => ({ ...route, renderError: plainErrors }));
}

/** Answers requests with these routes, as the whole gateway would. */
export function handlerOf(routes: readonly Route[]): (request: Request) => Promise<Response> {
  const router = createRouter(routes, { sections: [], renderError: plainErrors });
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const match = router.match(request.method, pathname);
    if (match.route === null) return plainErrors(match.error, "req_test");
    const inbound = {
      request,
      method: request.method,
      path: pathname,
      endpoint: match.route,
      query: search.slice(1),
      params: match.params,
      requestId: "req_test",
      receivedAt: 0,
      remote: "127.0.0.1",
      memory: UNLIMITED_MEMORY.lease(),
      record: unobservedRecord(),
    };
    try {
      return await match.route.handler(inbound);
    } catch (error) {
      return match.route.renderError(gatewayErrorOf(error), "req_test");
    }
  };
}

/** Sends a GET to these routes. */
export function get(routes: readonly Route[], path: string, headers: Record<string, string> = {}): Promise<Response> {
  return handlerOf(routes)(new Request(`http://gate.example${path}`, { headers }));
}

/** Sends a GET to these routes and returns the JSON of the response. */
export async function getJson(routes: readonly Route[], path: string): Promise<Record<string, unknown>> {
  return await (await get(routes, path)).json();
}

/** Serves these routes on a loopback address, which is passed to `run`. */
export async function withServer(routes: readonly Route[], run: (base: string) => Promise<void>): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handlerOf(routes));
  try {
    await run(`http://127.0.0.1:${server.addr.port}`);
  } finally {
    await server.shutdown();
  }
}
