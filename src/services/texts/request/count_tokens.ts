import { routeOf, tryCandidates } from "../../calls/paid_call.ts";
import { HeldSlot, SlotGate } from "../../calls/slot_gate.ts";
import type { RequestRecord } from "../../../platform/http/request/request_record.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { LimitedCaller } from "../../../money/limits/limited_caller.ts";
import type { HeldMemory } from "../../../platform/lib/process/memory_budget.ts";
import type { Conversation } from "../../../conversation/neutral/conversation.ts";
import type { CallerFormat } from "../../../conversation/contract/caller_format.ts";
import { modelFacts } from "../../../conversation/models/known_models.ts";
import type { RequestTarget } from "../../../conversation/contract/upstream_format.ts";
import { permittedCandidates } from "../../ownership/permitted_candidates.ts";
import type { Candidate } from "../../../vendors/routing/candidates.ts";
import { isFallbackAllowed, TEXT_FALLBACK } from "../../../vendors/routing/fallback_rule.ts";
import type { Model } from "../../../vendors/catalog/model.ts";
import { permittedCatalog } from "../../../vendors/catalog/permitted_catalog.ts";
import { UpstreamFailure } from "../../../vendors/upstreams/call/failure.ts";
import { idOf, type Provider, textEndpointsOf } from "../../../vendors/upstreams/contract/provider.ts";
import type { TextEndpoint, TokenCounter } from "../../../vendors/upstreams/contract/upstream.ts";
import { jsonBytes } from "../relay/response_headers.ts";
import { inlineMedia } from "../plan/inline_media.ts";
import { errorForCaller, failureLogFields } from "../../../vendors/routing/caller_error.ts";
import { isMissingTokenCounter } from "../plan/missing_token_counters.ts";
import { countPromptTokens } from "../plan/token_estimate.ts";
import type { TextParts } from "../plan/attempt.ts";
import { textModel } from "./text_model.ts";

/** A request to count the tokens of a prompt. It is free. */
export interface CountRequest extends LimitedCaller {
  /** The model as the caller named it. */
  readonly model: string;
  /** When the request began, in Unix milliseconds. */
  readonly receivedAt: number;
  /** The caller's format. */
  readonly format: CallerFormat;
  /** The request to count, as it was sent. */
  readonly body: JsonObject;
  readonly conversation: Conversation;
  readonly headerPin: string | null;
  readonly bodyPin: string | null;
  /** Returns the signal that fires when the caller disconnects. */
  readonly callerSignal: () => AbortSignal;
  /** Accounts for the memory of everything that is read for the count. */
  readonly memory: HeldMemory;
  /** Collects what happens to the request. */
  readonly record: RequestRecord;
}

/** A count and its source: a provider's name, or null for the gateway's tokenizer. */
export interface TokenCount {
  readonly tokens: number;
  readonly countedBy: string | null;
}

const COUNT_MS = 30_000;

/**
 * Counts the tokens of a prompt with the vendor's counter if one of the model's providers has one. The gateway's
 * tokenizer replaces a missing counter. Providers without a counter come last: they are used only after errors at which
 * a text request would try the next provider.
 *
 * @throws {GatewayError} The same errors as the text request itself, except `insufficient_credits`.
 */
export async function countTokens(request: CountRequest, parts: TextParts): Promise<TokenCount> {
  request.record.model = request.model;
  const admission = await parts.meter.admitFree(request);
  try {
    return await count(request, parts);
  } finally {
    admission.release();
  }
}

async function count(request: CountRequest, parts: TextParts): Promise<TokenCount> {
  const catalog = permittedCatalog(parts.catalog.at(request.receivedAt), request.limits);
  const model = textModel(catalog, request.model, request.format);
  const route = routeOf(model, request, parts);
  const query = { ...request, grammar: request.format.grammar, model, passesTo: () => false };
  const candidates = await permittedCandidates(query, route.candidates, parts);
  const candidatesWithCounter = () => candidates.filter((candidate) => hasCounter(candidate, parts));
  const withCounter = candidatesWithCounter();
  const held = new HeldSlot();
  try {
    if (withCounter.length > 0) {
      const attempt = (candidate: Candidate) => requestCount(candidate, request, model, parts);
      const { accountId, record } = request;
      const gate = gateOf(request, held, parts);
      const attempts = { candidates: withCounter, attempt, accountId, rule: TEXT_FALLBACK, record, gate };
      return await tryCandidates(attempts, parts);
    }
  } catch (error) {
    if (candidatesWithCounter().length === candidates.length || !isFallbackAllowed(error, TEXT_FALLBACK)) {
      throw errorForCaller(error, { providers: parts.providers, author: request.format.author });
    }
    parts.log.warn("count_estimated", { model: model.id, ...failureLogFields(error) });
  } finally {
    held.returnSlot();
  }
  // A count of our own sends no request, so it must not report to the circuit breaker that a provider is healthy.
  return { tokens: await countPromptTokens(request.conversation), countedBy: null };
}

/** A count takes a slot of the provider like any other request; vendors do not count its tokens. */
function gateOf({ accountId, callerSignal }: CountRequest, held: HeldSlot, { slots }: TextParts): SlotGate | null {
  return slots?.hasLimits ? new SlotGate(slots, held, { accountId, tokens: 0, callerSignal }) : null;
}

/** The endpoint and the method of a provider's counter. */
interface Counter {
  readonly endpoint: TextEndpoint;
  readonly counter: TokenCounter;
}

/** Returns null if the provider's kind has no counter for the model. */
function counterAt(provider: Provider, model: string): Counter | null {
  for (const endpoint of textEndpointsOf(provider, model)) {
    if (endpoint.counter !== null) return { endpoint, counter: endpoint.counter };
  }
  return null;
}

/** Whether the provider has a counter and the vendor did not recently report that it has none for the model. */
function hasCounter(
  { provider, model }: Candidate,
  { providers, missingTokenCounters: missingCounters }: TextParts,
): boolean {
  const found = providers.get(provider)!;
  return counterAt(found, model) !== null && !missingCounters.has(found.name, model);
}

/** The request to count, and the caller's resources for it. */
type Counted = Pick<CountRequest, "conversation" | "callerSignal" | "memory">;

/**
 * Counts at one provider, with its own counter or else with the gateway's tokenizer.
 *
 * @throws {UpstreamFailure}
 */
export async function countAt(
  candidate: Candidate,
  request: Counted,
  model: Model,
  parts: TextParts,
): Promise<TokenCount> {
  try {
    if (hasCounter(candidate, parts)) return await requestCount(candidate, request, model, parts);
  } catch (error) {
    if (hasCounter(candidate, parts)) throw error;
  }
  return { tokens: await countPromptTokens(request.conversation), countedBy: null };
}

/**
 * Requests a count from the provider's counter, and records it if the counter does not exist.
 *
 * @throws {UpstreamFailure} `forbidden` if there is none, so that the next provider is tried and no failure is recorded
 * for this one.
 */
async function requestCount(
  candidate: Candidate,
  request: Counted,
  model: Model,
  parts: TextParts,
): Promise<TokenCount> {
  const provider = parts.providers.get(candidate.provider)!;
  const { endpoint, counter } = counterAt(provider, candidate.model)!;
  const target: RequestTarget = {
    model: candidate.model,
    provider: idOf(provider),
    maxOutputTokens: model.topProvider.maxCompletionTokens || null,
    facts: modelFacts(candidate.model, model, provider),
    quirks: provider.quirks,
    // Counting does not search, so it needs no price for searches.
    hasWebSearch: !provider.quirks.has("no_web_search"),
  };
  const conversation = await inlineMedia(request.conversation, endpoint.mustInline, parts.mediaInliner, request);
  const { body } = counter.write(conversation, target);
  try {
    const { callerSignal } = request;
    const tokens = await sendCountRequest({ provider, endpoint, counter, model: target.model, body, callerSignal });
    return { tokens, countedBy: provider.name };
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || !isMissingTokenCounter(error, target.model)) throw error;
    parts.missingTokenCounters.add(provider.name, target.model);
    parts.log.info("counter_missing", { provider: provider.name, model: target.model, ...failureLogFields(error) });
    const { status, accepted } = error.facts;
    throw new UpstreamFailure(provider.name, "forbidden", `Provider "${provider.name}" has no token counter`, {
      status,
      accepted,
      cause: error,
    });
  }
}

interface CounterCall {
  readonly provider: Provider;
  readonly endpoint: TextEndpoint;
  readonly counter: TokenCounter;
  /** The vendor's name of the model. */
  readonly model: string;
  readonly body: { [key: string]: unknown };
  readonly callerSignal: () => AbortSignal;
}

async function sendCountRequest(
  { provider, endpoint, counter, model, body, callerSignal }: CounterCall,
): Promise<number> {
  const response = await provider.outbound.send({
    method: "POST",
    path: counter.path(model),
    headers: {},
    body: jsonBytes(body),
    firstByteMs: COUNT_MS,
    callerSignal,
    readError: endpoint.readError ?? endpoint.format.readError,
  });
  const bytes = await response.readAll(65_536);
  try {
    return counter.readCount(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    const message = `Provider "${provider.name}" returned an invalid token count`;
    const facts = { status: response.status, accepted: "unknown", cause } as const;
    throw new UpstreamFailure(provider.name, "broken", message, facts);
  }
}
