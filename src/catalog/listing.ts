import { eTag, ifNoneMatch } from "@std/http/etag";
import { type ErrorRenderer, type Handler, type Inbound, pathParam, type Route } from "../http/inbound.ts";
import { GatewayError } from "../lib/gateway_error.ts";
import { type Catalog, type CatalogProtocol, providerPartOf } from "./catalog.ts";
import { displayName, modelNotFound, nearestHint } from "./model_not_found.ts";
import type { Model } from "./model.ts";

/** How one protocol presents the catalog. */
export interface CatalogStyle {
  /** Selects the models. */
  readonly protocol: CatalogProtocol;
  /** The path of the list: `/v1/models`. */
  readonly path: string;
  /** Renders one model for JSON. */
  writeModel(model: Model): unknown;
  /** Renders the complete list. `written` contains the result of `writeModel` for each model. */
  writeList(written: readonly unknown[], models: readonly Model[]): unknown;
  /** Renders a page if the query requests one; otherwise returns null. */
  writePage?(written: readonly unknown[], models: readonly Model[], query: URLSearchParams): unknown | null;
}

/** Sends a body that is created once and sent many times. */
export type PreparedResponse = (inbound: Inbound) => Promise<Response>;

/** The prepared responses of one revision of the catalog. */
interface Answers {
  readonly revision: number;
  readonly all: PreparedResponse;
  readonly byProvider: ReadonlyMap<string, PreparedResponse>;
  readonly single: ReadonlyMap<Model, PreparedResponse>;
}

/**
 * The three endpoints of one catalog: the list, the list of a provider, and one model. They are public: no credential
 * is read. A single path segment is a provider, else a model's bare name or an alias. A segment with a slash,
 * percent-encoded or not (`openai%2Fgpt-6-sol`, as official clients send it), is a model's id or an alias. The
 * parameter is called `model`, since it may contain a slash. Source: docs/api/models.md#endpoints.
 */
export function catalogRoutes(catalog: Catalog, style: CatalogStyle, renderError: ErrorRenderer): Route[] {
  let made = answersOf(catalog, style);
  const answers = () => made.revision === catalog.revision ? made : (made = answersOf(catalog, style));
  const all: Handler = (inbound) => answers().all(inbound);
  const listOrModel: Handler = (inbound) => {
    const name = pathParam(inbound.params, "model");
    const { byProvider, single } = answers();
    const list = byProvider.get(name);
    if (list) return list(inbound);
    const named = catalog.named(name);
    const found = named && single.get(named.model);
    if (!found) throw missOf(catalog, name, (model) => single.has(model), named !== null);
    return named.isAlias ? preparedResponse(style.writeModel({ ...named.model, id: name }))(inbound) : found(inbound);
  };
  const { path } = style;
  return [
    { method: "GET", path, handler: all, renderError },
    { method: "GET", path: `${path}/:model*`, handler: listOrModel, renderError },
  ];
}

function answersOf(catalog: Catalog, style: CatalogStyle): Answers {
  const models = catalog.forProtocol(style.protocol);
  const reachable = new Set(models);
  const aliases = catalog.listedAliases.filter(({ model }) => reachable.has(model));
  const single = new Map(models.map((model) => [model, preparedResponse(style.writeModel(model))] as const));
  const byProvider = new Map<string, PreparedResponse>();
  const listFor = (isListed: (model: Model) => boolean) =>
    listOf(style, [
      ...models.filter(isListed),
      ...aliases.filter(({ model }) => isListed(model)).map(({ name, model }) => ({ ...model, id: name })),
    ]);
  for (const provider of catalog.providers) {
    byProvider.set(provider, listFor(({ id }) => providerPartOf(id) === provider));
  }
  return { revision: catalog.revision, all: listFor(() => true), byProvider, single };
}

/**
 * An unknown single segment is reported as an unknown provider, unless the model exists and only other protocols can
 * use it.
 */
function missOf(
  catalog: Catalog,
  name: string,
  isReachable: (model: Model) => boolean,
  isElsewhere: boolean,
): GatewayError {
  if (name.includes("/") || isElsewhere) return modelNotFound(catalog, name, isReachable);
  const hint = nearestHint(catalog, name, isReachable);
  return new GatewayError("not_found", `Cannot find a provider or model "${displayName(name)}"${hint}`);
}

function listOf(style: CatalogStyle, models: readonly Model[]): PreparedResponse {
  const written = models.map(style.writeModel);
  const whole = preparedResponse(style.writeList(written, models));
  return (inbound) => {
    if (!style.writePage || inbound.query === "") return whole(inbound);
    const page = style.writePage(written, models, new URLSearchParams(inbound.query));
    return page === null ? whole(inbound) : preparedResponse(page)(inbound);
  };
}

/** Returns a value as JSON with an entity tag. The tag is computed on first use, since digests are asynchronous. */
export function preparedResponse(body: unknown): PreparedResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  let tag: Promise<string> | undefined;
  return async ({ request, requestId }) => {
    const etag = await (tag ??= eTag(bytes));
    const headers = { "cache-control": "public, max-age=60", "etag": etag, "x-service-request-id": requestId };
    const isNew = ifNoneMatch(request.headers.get("if-none-match"), etag); // false if the caller's copy is current
    if (!isNew) return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers: { "content-type": "application/json", ...headers } });
  };
}
