import { isStreamedBody } from "../../../vendors/upstreams/call/outbound_body.ts";
import { failureKindOf } from "../../../vendors/upstreams/call/failure.ts";
import { holdRequest } from "../../../platform/lib/basics/held.ts";
import { JoinedBytes } from "../../../platform/lib/bytes/joined_bytes.ts";
import { parsedOrNull } from "../../../conversation/neutral/wire_value.ts";
import type { BatchRouting, CallParts } from "../../../services/calls/paid_call.ts";
import { exchangeJson } from "../../../vendors/upstreams/call/outbound_json.ts";
import type { BatchRoute, VendorReply } from "../../../services/batches/lines/line_runner.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { BATCH_TIER } from "../../../vendors/catalog/prices/price_conditions.ts";
import { isTierPriced } from "../../../vendors/catalog/prices/price_list.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import type { CircuitBreaker } from "../../../vendors/routing/circuit_breaker.ts";
import type { BatchedCall } from "../../../vendors/upstreams/contract/batch_upstream.ts";
import type { Outbound, OutboundCall, OutboundResponse } from "../../../vendors/upstreams/call/outbound_call.ts";
import type { Provider } from "../../../vendors/upstreams/contract/provider.ts";

/** No provider that may serve a line has batches with a price. */
class UnbatchedError extends Error {
  override readonly name = "UnbatchedError";
}

/** Whether any provider has batches. */
export function hasBatches(providers: ReadonlyMap<string, Provider>): boolean {
  return providers.values().some(({ capabilities }) => capabilities.batches !== undefined);
}

/** What differs for a call that is a line of a vendor's batch. */
export type BatchedParts = Pick<CallParts, "batch" | "providers" | "breaker">;

/** The providers with what their batches take, and without what they do not. */
export function batchedProviders(providers: ReadonlyMap<string, Provider>): ReadonlyMap<string, Provider> {
  const known = batchedProvidersOf.get(providers);
  if (known !== undefined) return known;
  const batched = new Map([...providers].map(([id, provider]) => [id, withBatched(provider, provider.outbound)]));
  batchedProvidersOf.set(providers, batched);
  return batched;
}

/** By the providers of a configuration, since every line of a batch asks. */
const batchedProvidersOf = new WeakMap<ReadonlyMap<string, Provider>, ReadonlyMap<string, Provider>>();

/** Requests for anything but text are sent by capabilities, which have the client that they were made with. */
function withBatched(provider: Provider, outbound: Outbound): Provider {
  const { embeddings: _e, moderations: _m, ...others } = provider.capabilities;
  return { ...provider, outbound, capabilities: { ...others, ...others.batched?.(outbound) } };
}

/** Whether the batches of any vendor may take a line that names a model. */
export function mayBeBatched(model: Model, providers: ReadonlyMap<string, Provider>): boolean {
  return batchedOf(model, model.serves, providers) !== null;
}

/** The first candidate with batches, if the model has their price. */
function batchedOf(
  { isFree, prices }: Model,
  candidates: readonly Candidate[],
  providers: ReadonlyMap<string, Provider>,
): Candidate | null {
  if (!isFree && !isTierPriced(prices, BATCH_TIER)) return null;
  return candidates.find(({ provider }) => providers.get(provider)?.capabilities.batches !== undefined) ?? null;
}

/** Picks the provider whose batches take a line: the first one with batches, if the model has their price. */
export class BatchChoice implements BatchRouting {
  readonly fixed = null;
  /** Null until a provider was picked. */
  route: BatchRoute | null = null;

  constructor(private readonly providers: ReadonlyMap<string, Provider>) {}

  /** @throws {UnbatchedError} */
  pick(model: Model, candidates: readonly Candidate[]): Candidate {
    const found = batchedOf(model, candidates, this.providers);
    if (found === null) throw new UnbatchedError("No vendor of the line has batches");
    this.route = { provider: found.provider, model: found.model };
    return found;
  }
}

/** What a line is written with that is not sent by itself, and a function that returns what would have been sent. */
export function capturing(
  route: BatchRoute,
  parts: CallParts,
): { readonly callParts: BatchedParts; readonly sent: () => BatchedCall | null } {
  let captured: BatchedCall | null = null;
  const callParts = partsAt(route, parts, () => ({
    async send({ path, headers, body }) {
      captured ??= { path, headers, body: await bytesOf(body) };
      throw new Error("The request is a line of a batch");
    },
  }));
  return { callParts, sent: () => captured };
}

/** What a line is answered with from the reply that its vendor gave in a batch. */
export function replaying(route: BatchRoute, reply: VendorReply, parts: CallParts): BatchedParts {
  let isUsed = false;
  return partsAt(route, parts, (outbound) => ({
    send(call) {
      // A vendor's batch has one reply for each line.
      if (isUsed) return Promise.reject(outbound.failure("unavailable", ""));
      isUsed = true;
      return replyOf(reply, call, outbound);
    },
  }));
}

/** The parts of one line, for one provider whose vendor is not called. */
function partsAt(
  { provider: id, model }: BatchRoute,
  { providers }: CallParts,
  sending: (outbound: Outbound) => Pick<Outbound, "send">,
): BatchedParts {
  const candidate: Candidate = { provider: id, model, weight: 1 };
  const provider = providers.get(id);
  const changed = new Map(providers);
  if (provider !== undefined) {
    const outbound: Outbound = {
      ...provider.outbound,
      ...sending(provider.outbound),
      json: (method, path, body, read, options = {}) => exchangeJson(outbound, { method, path, body, read, options }),
    };
    changed.set(id, withBatched(provider, outbound));
  }
  return { batch: { fixed: candidate, pick: () => candidate }, providers: changed, breaker: IDLE_BREAKER };
}

/** A vendor that is not called says nothing about its health. */
const IDLE_BREAKER: CircuitBreaker = {
  availabilityOf: () => "available",
  onStart: () => ({ succeeded() {}, failed() {} }),
  health: () => [],
};

async function bytesOf(body: OutboundCall["body"]): Promise<Uint8Array<ArrayBuffer>> {
  if (body === null) return new Uint8Array();
  if (body instanceof Uint8Array) return body.slice();
  if (!isStreamedBody(body)) return body.joined().slice();
  const joined = new JoinedBytes();
  for await (const chunk of body.open()) joined.add(chunk);
  return joined.joined();
}

/** A longer error of a vendor is not parsed, which would keep others waiting. */
const MAX_ERROR_BYTES = 65_536;

/** The reply as the vendor would have sent it by itself. */
async function replyOf(
  { status, body }: VendorReply,
  { readError }: OutboundCall,
  outbound: Outbound,
): Promise<OutboundResponse> {
  if (status >= 200 && status <= 299) return await Promise.resolve(new StoredResponse(status, body));
  const { kind, message, code, field, reason, isContentRefusal } = readError(
    body.length > MAX_ERROR_BYTES ? null : parsedOrNull(new TextDecoder().decode(body)),
    () => null,
  );
  throw outbound.failure(kind ?? failureKindOf(status), message, {
    status,
    accepted: "no",
    vendorCode: code ?? undefined,
    field: field === null ? undefined : field,
    reason,
    isContentRefusal,
  });
}

class StoredResponse implements OutboundResponse {
  readonly mediaType = "application/json";
  #left: Uint8Array<ArrayBuffer> | null;

  constructor(readonly status: number, body: Uint8Array<ArrayBuffer>) {
    this.#left = body;
  }

  header(): null {
    return null;
  }

  read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const left = this.#left;
    this.#left = null;
    return Promise.resolve(left);
  }

  readNext({ onChunk, onEnd, onError }: Parameters<OutboundResponse["readNext"]>[0]): void {
    holdRequest(this.read().then((bytes) => bytes === null ? onEnd() : onChunk(bytes)), onError);
  }

  /** Null, so that a long reply is read as one that arrives. */
  takeArrived(): null {
    return null;
  }

  async readAll(...args: Parameters<OutboundResponse["readAll"]>): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.readBody(...args)).joined();
  }

  async readBody(_capBytes: number, reserve?: (bytes: number) => void): Promise<JoinedBytes> {
    const joined = new JoinedBytes();
    const bytes = await this.read();
    if (bytes === null) return joined;
    reserve?.(bytes.length);
    joined.add(bytes);
    return joined;
  }

  cancel(): void {
    this.#left = null;
  }
}
