import { credentialOf, providerNameOf } from "../../names/provider_name.ts";
import type { BodyCapture } from "./body_capture.ts";
import type { Money } from "../../lib/basics/money.ts";
import type { ProviderHalt } from "../../names/provider_halt.ts";
import { NO_SLOT, type SlotMember } from "../../lib/collections/slot_set.ts";
import { newSpanId, type RequestTrace } from "../../lib/tracing/trace_context.ts";

/** How the work for a request ended: complete, cut off by the vendor or the gateway, or left by the caller. */
export type RequestEnd = "completed" | "cut" | "left";

/** Tokens of a request, by the side on which they count. */
export interface RecordedTokens {
  /** All tokens of the prompt, those of caches included. */
  readonly input: number;
  /** The part of `input` that was read from a cache. */
  readonly cacheRead: number;
  /** The part of `input` that was written to a cache. */
  readonly cacheWrite: number;
  /** All generated tokens, reasoning included. */
  readonly output: number;
  /** The part of `output` that is reasoning. */
  readonly reasoning: number;
  /** Whether the gateway estimated the counts, because the vendor reported none. */
  readonly isEstimated: boolean;
}

/** One try to serve a request at one provider. */
export interface RecordedAttempt {
  /** By its configured name. */
  readonly provider: string;
  /** The name of the provider's credential; null for a provider without named credentials. */
  readonly credential: string | null;
  /** The model by the vendor's name. */
  readonly model: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The attempt's span in the trace of the request; absent while tracing is off. */
  spanId?: string;
  /** Until the vendor's response began or the attempt failed; null while it is under way. */
  durationMs: number | null;
  /** The vendor's HTTP status; null without a response. */
  status: number | null;
  /** The vendor's own id of the request; null if it sent none. */
  vendorRequestId: string | null;
  /** The kind of the failure, or the gateway's error code; null for a success. */
  code: string | null;
  /** The reason of the failure in the vendor's or the gateway's words, without secrets; null for a success. */
  message: string | null;
}

/** A field that a vendor refused, and that no fact of its model foresaw. */
export interface RefusedFieldOfModel {
  /** The model by its name in the catalog. */
  readonly model: string;
  /** The path of the field without indexes. */
  readonly field: string;
}

/** Whether a provider could be tried when a request was routed, or why it was passed over. */
export type CandidateState =
  | "ready"
  | "circuit_open"
  | "misconfigured"
  | "not_able"
  | "not_pinned"
  | ProviderHalt["state"];

/** A provider of a model when a request was routed. */
export interface RecordedCandidate {
  /** By its configured name. */
  readonly provider: string;
  /** The share of unpinned requests relative to the other providers. */
  readonly weight: number;
  /** Whether it could be tried. */
  readonly state: CandidateState;
  /** The name of the admin key that halted it; null for the configuration. Absent if it is not halted. */
  readonly by?: string | null;
  /** When it was halted, in Unix seconds; null if it is not known. Absent if it is not halted. */
  readonly since?: number | null;
}

/** How a request was routed to the providers of one model. */
export interface RecordedRoute {
  /** By its name in the catalog. */
  readonly model: string;
  /** The provider that the caller named; null for none. */
  readonly pin: string | null;
  /** The provider that came first because its vendor may have the conversation in its cache; absent for none. */
  readonly warm?: string;
  /** All providers of the model. */
  readonly candidates: readonly RecordedCandidate[];
}

/** Charged quantities by price key, with their rates in 10^-18 USD. */
export interface RecordedQuantities {
  /** By price key. */
  readonly quantities: Readonly<Partial<Record<string, number>>>;
  /** The rates by price key, in 10^-18 USD. */
  readonly tariff: Readonly<Partial<Record<string, bigint>>>;
}

/** What a request reserved before its first attempt. */
export interface RecordedReservation {
  /** The highest cost of the request. */
  readonly amount: Money;
  /** The most tokens that it was expected to use; absent if it uses none. */
  readonly tokens?: number | undefined;
}

/** The limit of a key or an account that refused a request. */
export interface RecordedRefusal {
  /** Whose limit it is. */
  readonly holder: "key" | "account";
  /** `rpm`, `tpm`, `concurrency` or `budget`. */
  readonly limit: string;
  /** The value of the limit, for people. */
  readonly value: string;
  /** When a request can succeed, in Unix milliseconds; null for never, or at the end of another request. */
  readonly resetAt: number | null;
}

/** What is known about a request when it arrives. */
export interface RecordedArrival {
  /** Assigned by the gateway. */
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The HTTP method. */
  readonly method: string;
  /** The path as sent, without the query. */
  readonly sentPath: string;
  /** The path after corrections; decides the protocol. */
  readonly path: string;
  /** The client's IP address. */
  readonly remote: string;
}

/** The facts of a request that its handlers collect. Plain values, so that threads can send them. */
export interface RecordedFacts {
  /** The account that is charged; null before authentication. */
  accountId: string | null;
  /** The public id of the API key. */
  keyId: string | null;
  /** The model as the caller named it; null where the endpoint has none. */
  model: string | null;
  /** The model by its name in the catalog: the first choice, then the one that served the request. */
  servedModel: string | null;
  /** The provider that served the request, or whose failure was returned. */
  provider: string | null;
  /** The type of the charged work; null without a charge. */
  kind: string | null;
  /** For each model that has a choice of providers, or a pin; models with a single usable provider are left out. */
  routes: readonly RecordedRoute[];
  /** What the request reserved; null if it was not admitted or costs nothing by its kind. */
  reserved: RecordedReservation | null;
  /** In the order in which they began. */
  attempts: RecordedAttempt[];
  /** The fields that the vendor does not support, in the caller's spelling. */
  dropped: readonly string[];
  /** The charged tokens; null without a charge. */
  tokens: RecordedTokens | null;
  /** Images of the response; zero for other work. */
  images: number;
  /** The charged amount; null if nothing was to be charged. */
  cost: Money | null;
  /** What the vendor's cache saved, below zero if it cost more than no cache; absent without a cache. */
  cacheSaved?: Money;
  /** What was charged, and its rates. */
  charged: readonly RecordedQuantities[];
  /** The conditions that decided on the rates, in a few words each. Often empty. */
  priceReasons: readonly string[];
  /** What was reported and has no price: keys of prices, and `service_tier`. Almost always empty. */
  unpriced: readonly string[];
  /** How the charged work ended; null without a charge. */
  end: RequestEnd | null;
  /** Unix milliseconds of the first bytes of a stream; null for other responses. */
  firstByteAt: number | null;
  /** Bytes of the response's body; null if not counted. */
  responseBytes: number | null;
  /** Bytes of the request's body; null if not counted. */
  requestBytes: number | null;
  /** The id of the cached content that the request names; absent for none. */
  cacheId?: string;
  /** The vendor's name of the model that answered in the place of the requested one; absent if none did. */
  answeredBy?: string;
  /** The session to which the client says that the request belongs; absent for none. */
  session?: string;
}

/** Receives each record once, when its request has ended. Must not throw, and must not keep the record. */
export type RequestObserver = (record: RequestRecord) => void;

/**
 * What happened to one request, from its arrival to the end of its response and its charge. The handlers fill it;
 * {@linkcode RequestObserver}s such as the access log read it. A request ends when every part that holds its record has
 * released it: the request handler, the open stream, the call that is not charged yet.
 */
export class RequestRecord implements RecordedFacts, SlotMember {
  /** See {@linkcode SlotMember}. */
  slot: number = NO_SLOT;
  /** See {@linkcode RecordedFacts}. */
  accountId: string | null = null;
  /** See {@linkcode RecordedFacts}. */
  keyId: string | null = null;
  /** See {@linkcode RecordedFacts}. */
  servedModel: string | null = null;
  /** See {@linkcode RecordedFacts}. */
  provider: string | null = null;
  /** See {@linkcode RecordedFacts}. */
  kind: string | null = null;
  /** See {@linkcode RecordedFacts}. */
  routes: readonly RecordedRoute[] = NO_ROUTES;
  /** See {@linkcode RecordedFacts}. */
  reserved: RecordedReservation | null = null;
  /** See {@linkcode RecordedFacts}. */
  attempts: RecordedAttempt[] = [];
  /** See {@linkcode RecordedFacts}. */
  dropped: readonly string[] = NONE;
  /** The fields that vendors refused although the facts let them pass. */
  refusedFields: readonly RefusedFieldOfModel[] = NO_REFUSED_FIELDS;
  /** See {@linkcode RecordedFacts}. */
  tokens: RecordedTokens | null = null;
  /** See {@linkcode RecordedFacts}. */
  images = 0;
  /** See {@linkcode RecordedFacts}. */
  cost: Money | null = null;
  /** See {@linkcode RecordedFacts}. */
  charged: readonly RecordedQuantities[] = NOTHING_CHARGED;
  /** See {@linkcode RecordedFacts}. */
  declare cacheSaved?: Money;
  /** See {@linkcode RecordedFacts}. */
  priceReasons: readonly string[] = NO_WORDS;
  /** See {@linkcode RecordedFacts}. */
  unpriced: readonly string[] = NO_WORDS;
  /** See {@linkcode RecordedFacts}. */
  end: RequestEnd | null = null;
  /** See {@linkcode RecordedFacts}. */
  firstByteAt: number | null = null;
  /** See {@linkcode RecordedFacts}. */
  responseBytes: number | null = null;
  /** See {@linkcode RecordedFacts}. */
  requestBytes: number | null = null;
  /** See {@linkcode RecordedFacts}. */
  declare cacheId?: string;
  /** See {@linkcode RecordedFacts}. */
  declare answeredBy?: string;
  /** See {@linkcode RecordedFacts}. */
  declare session?: string;
  /** The request's place in a trace; null while tracing is off. */
  trace: RequestTrace | null = null;
  /** The path of the route, such as `/v1/videos/:id`; null if the request has no route. */
  endpoint: string | null = null;
  /** Whether the request belongs to monitoring, and is neither logged nor counted. */
  isProbe = false;
  /** The response's HTTP status; 0 before the response. */
  status = 0;
  /** The code of the error that was returned; null for a success. */
  code: string | null = null;
  /** The message of the error that was returned. */
  message: string | null = null;
  /** The limit that refused the request; null if none did. */
  refusal: RecordedRefusal | null = null;
  /** Unix milliseconds at which the head of the response was ready; 0 before. */
  respondedAt = 0;
  /** Keeps the bodies of the request and of its response; null if they are not captured. */
  capture: BodyCapture | null = null;
  #holders = 1;
  #model: string | null = null;

  /**
   * Creates the record of a request that has arrived, held once.
   *
   * @param observer Receives the record at the end. Default: none.
   */
  constructor(readonly arrival: RecordedArrival, readonly observer: RequestObserver | null = null) {}

  /** See {@linkcode RecordedFacts}. Of a longer name only the beginning is kept, which no model has. */
  get model(): string | null {
    return this.#model;
  }

  set model(name: string | null) {
    this.#model = name === null || name.length <= MAX_MODEL_CHARACTERS ? name : name.slice(0, MAX_MODEL_CHARACTERS);
  }

  /**
   * Milliseconds until the first byte of the response; null if the request ended without a response. Zero if the clock
   * was set back.
   */
  get firstByteMs(): number | null {
    const { receivedAt } = this.arrival;
    const at = this.firstByteAt ?? this.respondedAt;
    return at === 0 && receivedAt > 0 ? null : Math.max(0, at - receivedAt);
  }

  /** Postpones the end of the request until {@linkcode RequestRecord.release}. */
  hold(): void {
    this.#holders++;
  }

  /** Releases the record. The last release ends the request. */
  release(): void {
    this.#holders--;
    if (this.#holders !== 0) return;
    try {
      this.observer?.(this);
    } catch (error) {
      // A log that fails costs no caller the response, nor those whose requests the same thread answers.
      reportError(error);
    } finally {
      this.capture?.release();
    }
  }

  /**
   * Records the start of an attempt.
   *
   * @param providerId The name of the provider, with the credential if it has several.
   * @param startedAt Unix milliseconds.
   */
  beginAttempt(providerId: string, model: string, startedAt: number): RecordedAttempt {
    const attempt: RecordedAttempt = {
      provider: providerNameOf(providerId),
      credential: credentialOf(providerId),
      model,
      startedAt,
      durationMs: null,
      status: null,
      vendorRequestId: null,
      code: null,
      message: null,
    };
    if (this.trace !== null) attempt.spanId = newSpanId();
    this.attempts.push(attempt);
    return attempt;
  }

  /** The attempt that began last; null before the first. */
  get lastAttempt(): RecordedAttempt | null {
    return this.attempts.at(-1) ?? null;
  }

  /** The collected facts as plain values, to be sent to another thread. */
  facts(): RecordedFacts {
    const { accountId, keyId, model, servedModel, provider, kind, routes, reserved, attempts, dropped } = this;
    const {
      tokens,
      images,
      cost,
      charged,
      priceReasons,
      unpriced,
      end,
      firstByteAt,
      responseBytes,
      requestBytes,
      cacheId,
      answeredBy,
      cacheSaved,
      session,
    } = this;
    return {
      ...cacheId !== undefined && { cacheId },
      ...answeredBy !== undefined && { answeredBy },
      ...cacheSaved !== undefined && { cacheSaved },
      ...session !== undefined && { session },
      accountId,
      keyId,
      model,
      servedModel,
      provider,
      kind,
      routes,
      reserved,
      attempts,
      dropped,
      tokens,
      images,
      cost,
      charged,
      priceReasons,
      unpriced,
      end,
      firstByteAt,
      responseBytes,
      requestBytes,
    };
  }

  /** Takes over the facts that another thread collected for the same request. */
  adopt(facts: RecordedFacts): void {
    Object.assign(this, facts);
  }
}

/** More than any endpoint accepts. Callers can send names of many megabytes. */
const MAX_MODEL_CHARACTERS = 1_024;

const NO_REFUSED_FIELDS: readonly RefusedFieldOfModel[] = [];
const NONE: readonly string[] = [];
const NO_ROUTES: readonly RecordedRoute[] = [];
const NOTHING_CHARGED: readonly RecordedQuantities[] = [];
const NO_WORDS: readonly string[] = [];

/** Joins observers. */
export function observeAll(observers: readonly RequestObserver[]): RequestObserver {
  return (record) => {
    for (const observe of observers) observe(record);
  };
}
