import { eTag } from "@std/http/etag";
import { hasTag } from "../../platform/http/request/headers.ts";
import { type Handler, type Inbound, pathParam } from "../../platform/http/request/inbound.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import { chain, type MaybePromise } from "../../platform/lib/basics/maybe_promise.ts";
import { nextTurn } from "../../platform/lib/streams/loop_turns.ts";
import { type Catalog, type CatalogProtocol, type DatedCatalog, providerPartOf } from "./catalog.ts";
import { displayName, modelNotFound, nearestHint } from "./model_not_found.ts";
import type { Model } from "./model.ts";

/** How one protocol presents the catalog. */
export interface CatalogStyle {
  /** Selects the models. */
  readonly protocol: CatalogProtocol;
  /** Renders one model for JSON. */
  writeModel(model: Model): unknown;
  /** Renders the complete list. `written` contains the result of `writeModel` for each model. */
  writeList(written: readonly unknown[], models: readonly Model[]): unknown;
  /** Renders a page if the query requests one; otherwise returns null. */
  writePage?(written: readonly unknown[], models: readonly Model[], query: URLSearchParams): unknown | null;
}

/** Sends a body that is created once and sent many times. */
export type PreparedResponse = (inbound: Inbound) => Promise<Response>;

/**
 * The part of the catalog that the caller of a request may use, with the prices of the moment at which the request
 * began: the catalog of that moment itself for a caller without a key or limits.
 */
export type CatalogFor = (inbound: Inbound) => MaybePromise<Catalog>;

/** The prepared responses of one revision of the catalog. */
interface Answers {
  readonly revision: number;
  /** Whether callers of the protocol can use a model. */
  isReachable(model: Model): boolean;
  all(): Promise<PreparedResponse>;
  /** The models of a provider; null for an unknown one. */
  ofProvider(provider: string): Promise<PreparedResponse> | null;
  one(model: Model): PreparedResponse;
}

/** The handlers of the endpoints of one catalog. */
export interface CatalogHandlers {
  readonly list: Handler;
  /** Of one model, or the models of a provider, by the parameter `model`. */
  readonly one: Handler;
}

/**
 * The three endpoints of one catalog: the list, the list of a provider, and one model. They are public: a request needs
 * no key, and one with a key that is limited gets what the key may use. A single path segment is a provider, else a
 * model's bare name or an alias. A segment with a slash, percent-encoded or not (`openai%2Fgpt-6-sol`, as official
 * clients send it), is a model's id or an alias. The parameter is called `model`, since it may contain a slash. Source:
 * docs/api/models.md#endpoints.
 *
 * @param catalogFor Default: the whole catalog.
 */
export function catalogHandlers(
  whole: DatedCatalog,
  style: CatalogStyle,
  catalogFor: CatalogFor = ({ receivedAt }) => whole.at(receivedAt),
): CatalogHandlers {
  const prepared = new WeakMap<Catalog, Answers>();
  const cacheControlFor = ({ receivedAt }: Inbound, catalog: Catalog) =>
    catalog === whole.at(receivedAt) ? PUBLIC : PRIVATE;
  const answersFor = (inbound: Inbound, catalog: Catalog): Answers => {
    const made = prepared.get(catalog);
    if (made?.revision === catalog.revision) return made;
    const answers = answersOf(catalog, style, cacheControlFor(inbound, catalog));
    prepared.set(catalog, answers);
    return answers;
  };
  const listOrModel = async (inbound: Inbound, catalog: Catalog) => {
    const name = pathParam(inbound.params, "model");
    const { isReachable, ofProvider, one } = answersFor(inbound, catalog);
    const list = await ofProvider(name);
    if (list !== null) return await list(inbound);
    const named = catalog.named(name);
    if (named === null || !isReachable(named.model)) throw missOf(catalog, name, isReachable, named !== null);
    if (!named.isAlias) return await one(named.model)(inbound);
    const written = style.writeModel({ ...named.model, id: name });
    return await preparedResponse(written, cacheControlFor(inbound, catalog))(inbound);
  };
  const all = async (inbound: Inbound, catalog: Catalog) => {
    const list = await answersFor(inbound, catalog).all();
    return await list(inbound);
  };
  const withCatalog = (answer: (inbound: Inbound, catalog: Catalog) => Promise<Response>): Handler => (inbound) =>
    chain(catalogFor(inbound), (catalog) => answer(inbound, catalog));
  return {
    list: withCatalog(all),
    one: withCatalog(listOrModel),
  };
}

const PUBLIC = "public, max-age=60";
/** A list for one key must not be given to another caller by a cache in between. */
const PRIVATE = "private, no-cache";

/** Each answer is written when it is first requested. */
function answersOf(catalog: Catalog, style: CatalogStyle, cacheControl: string): Answers {
  const models = catalog.forProtocol(style.protocol);
  const reachable = new Set(models);
  const providers = new Set(catalog.providers);
  const aliases = catalog.listedAliases.filter(({ model }) => reachable.has(model));
  const lists = new Map<string | null, Promise<PreparedResponse>>();
  const single = new Map<Model, PreparedResponse>();
  const listFor = (isListed: (model: Model) => boolean) =>
    listOf(style, cacheControl, [
      ...models.filter(isListed),
      ...aliases.filter(({ model }) => isListed(model)).map(({ name, model }) => ({ ...model, id: name })),
    ]);
  return {
    revision: catalog.revision,
    isReachable: (model) => reachable.has(model),
    all: () => getOrInsert(lists, null, () => listFor(() => true)),
    ofProvider: (provider) =>
      providers.has(provider)
        ? getOrInsert(lists, provider, () => listFor(({ id }) => providerPartOf(id) === provider))
        : null,
    one: (model) => getOrInsert(single, model, () => preparedResponse(style.writeModel(model), cacheControl)),
  };
}

function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
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

/** A list of thousands of models takes tenths of a second, so others work in between. */
const MODELS_PER_TURN = 100;

async function listOf(style: CatalogStyle, cacheControl: string, models: readonly Model[]): Promise<PreparedResponse> {
  const written: unknown[] = [];
  for (const model of models) {
    if (written.length > 0 && written.length % MODELS_PER_TURN === 0) await nextTurn();
    written.push(style.writeModel(model));
  }
  const whole = preparedResponse(style.writeList(written, models), cacheControl);
  return (inbound) => {
    if (!style.writePage || inbound.query === "") return whole(inbound);
    const page = style.writePage(written, models, new URLSearchParams(inbound.query));
    return page === null ? whole(inbound) : preparedResponse(page, cacheControl)(inbound);
  };
}

/** Returns a value as JSON with an entity tag. The tag is computed on first use, since digests are asynchronous. */
export function preparedResponse(body: unknown, cacheControl = PUBLIC): PreparedResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  let tag: Promise<string> | undefined;
  return async ({ request, requestId }) => {
    const etag = await (tag ??= eTag(bytes));
    const headers = { "cache-control": cacheControl, "etag": etag, "x-service-request-id": requestId };
    if (hasTag(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    return new Response(bytes, { headers: { "content-type": "application/json", ...headers } });
  };
}
