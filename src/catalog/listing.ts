import { eTag, ifNoneMatch } from "@std/http/etag";
import type { ErrorRenderer, Handler, Inbound, Route } from "../http/inbound.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { type Catalog, type CatalogProtocol, providerPartOf } from "./catalog.ts";
import type { Model } from "./model.ts";

/** How one protocol shows the catalog. */
export interface CatalogStyle {
  /** Decides which models are shown. */
  readonly protocol: CatalogProtocol;
  /** The path of the list: `/v1/models`. */
  readonly path: string;
  /** One model in the protocol's words, ready for JSON. */
  writeModel(model: Model): unknown;
  /** The answer for a list that is shown in full. `written` holds what `writeModel` made, one for each model. */
  writeList(written: readonly unknown[], models: readonly Model[]): unknown;
  /** The answer for a part of the list when the query asks for one, or null when it does not. */
  writePage?(written: readonly unknown[], models: readonly Model[], query: URLSearchParams): unknown | null;
}

/** A body that is made once and sent many times. */
type Prepared = (inbound: Inbound) => Promise<Response>;

/**
 * The three endpoints of one catalog: the list, the list of a provider, one model. Public: no credential is read.
 * A single segment is a provider; one with a slash in it (`openai%2Fgpt-6-sol`, as official clients send it) is a model's
 * id, and one that names no provider may be a model's bare name. It is called `model`, as that may hold a slash. Source: SPEC "Model catalogs (public, no credential)".
 */
export function catalogRoutes(catalog: Catalog, style: CatalogStyle, renderError: ErrorRenderer): Route[] {
  const models = catalog.forProtocol(style.protocol);
  const single = new Map(models.map((model) => [model, prepared(style.writeModel(model))] as const));
  const all = listOf(style, models);
  const byProvider = new Map<string, Prepared>();
  for (const provider of catalog.providers) {
    byProvider.set(provider, listOf(style, models.filter(({ id }) => providerPartOf(id) === provider)));
  }
  const modelNamed = (id: string): Prepared => {
    const model = catalog.find(id);
    const found = model && single.get(model);
    if (!found) throw new GatewayError("model_not_found", `Cannot find the model "${shortened(id)}" in this catalog`);
    return found;
  };
  const listOrModel: Handler = (inbound) => {
    const { model } = inbound.params;
    const list = byProvider.get(model);
    if (list) return list(inbound);
    if (model.includes("/") || catalog.find(model)) return modelNamed(model)(inbound);
    throw new GatewayError("not_found", `Cannot find the provider "${shortened(model)}" in this catalog`);
  };
  const { path } = style;
  return [
    { method: "GET", path, handler: all, renderError },
    { method: "GET", path: `${path}/:model`, handler: listOrModel, renderError },
    {
      method: "GET",
      path: `${path}/:provider/:model`,
      handler: (inbound) => modelNamed(`${inbound.params.provider}/${inbound.params.model}`)(inbound),
      renderError,
    },
  ];
}

function listOf(style: CatalogStyle, models: readonly Model[]): Prepared {
  const written = models.map(style.writeModel);
  const whole = prepared(style.writeList(written, models));
  return (inbound) => {
    if (!style.writePage || inbound.query === "") return whole(inbound);
    const page = style.writePage(written, models, new URLSearchParams(inbound.query));
    return page === null ? whole(inbound) : prepared(page)(inbound);
  };
}

/** Bytes and entity tag of an answer. The tag is made at the first use, as digests are asynchronous. */
function prepared(body: unknown): Prepared {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  let tag: Promise<string> | undefined;
  return async ({ request, requestId }) => {
    const etag = await (tag ??= eTag(bytes));
    const headers = { "cache-control": "public, max-age=60", "etag": etag, "x-service-request-id": requestId };
    const isNew = ifNoneMatch(request.headers.get("if-none-match"), etag); // false when the caller's copy is ours
    if (!isNew) return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers: { "content-type": "application/json", ...headers } });
  };
}

/** A caller's word in a message: never longer than a line, never more than one. */
function shortened(word: string): string {
  return word.replace(/[^\x20-\x7e]/g, "?").slice(0, 100);
}
