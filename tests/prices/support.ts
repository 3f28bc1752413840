import { builtInFields } from "../../src/vendors/catalog/built_in.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts";

/** A server of a price list, whose answers a test sets. */
export interface PriceServer {
  readonly url: string;
  /** The requests so far. */
  readonly requests: Request[];
  /** Answers with this list from now on, or with what the function returns. */
  list: unknown | ((request: Request) => Response | Promise<Response>);
  stop(): Promise<void>;
}

/** Starts a server whose lists have entity tags. */
export function startPriceServer(list: unknown): PriceServer {
  const requests: Request[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    requests.push(request);
    const current = started.list;
    if (typeof current === "function") return current(request);
    const text = typeof current === "string" ? current : JSON.stringify(current);
    const etag = `"${text.length}-${[...text].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) % 1e9, 7)}"`;
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
    return new Response(text, { headers: { etag, "content-type": "application/json" } });
  });
  const started: PriceServer = {
    url: `http://127.0.0.1:${server.addr.port}/prices.json`,
    requests,
    list,
    stop: () => server.shutdown(),
  };
  return started;
}

/**
 * A list in our own format: built-in models of OpenAI with other prices, in USD for a token. A model that is not built
 * in has those prices only.
 */
export function ownList(prices: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  return Object.entries(prices).map(([id, pricing]) => {
    const known = builtInFields("openai", id.replace("openai/", ""));
    const own = known?.pricing as Record<string, unknown> | undefined;
    return { ...known ?? { context_length: 100_000 }, id, pricing: { ...own, ...pricing } };
  });
}

/** A gateway whose built-in models of OpenAI are served by the sandbox, with a price source. */
export async function startPricedGateway(
  server: Pick<PriceServer, "url">,
  { config, ...options }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const prices = { source: server.url, ...config?.prices as Record<string, unknown> };
  return await startTestGateway({
    isBuiltIn: true,
    ...options,
    config: { ...config, prices },
  });
}

/** A call of the admin API. */
export async function admin(gateway: TestGateway, method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.address}/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  });
  return { status: response.status, body: await response.json() };
}

/** The prices of a model in the public catalog. */
export async function pricingOf(gateway: TestGateway, id: string): Promise<Record<string, string> | null> {
  const response = await fetch(`${gateway.address}/v1/models/${encodeURIComponent(id)}`, {
    headers: { "cache-control": "no-cache" },
  });
  const body = await response.json();
  return response.ok ? body.pricing ?? body.data?.pricing : null;
}
