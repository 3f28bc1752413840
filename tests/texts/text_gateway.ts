import { assertRejects } from "@std/assert";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { Log, LogFields } from "../../src/platform/lib/basics/log.ts";
import type { Money } from "../../src/platform/lib/basics/money.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import type { StateOwnership } from "../../src/services/ownership/state_ownership.ts";
import type { Store } from "../../src/platform/store/store.ts";
import { UNMONITORED_CREDENTIALS } from "../../src/vendors/routing/credential_monitor.ts";
import type { TextParts } from "../../src/services/texts/plan/attempt.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { itemMemoryOver } from "../../src/services/texts/memory/item_memory.ts";
import { MissingTokenCounters } from "../../src/services/texts/plan/missing_token_counters.ts";
import { PrefixMemory } from "../../src/services/texts/memory/prefix_memory.ts";
import { reasoningMemoryOver } from "../../src/services/texts/memory/reasoning_memory.ts";
import { OpenStreams } from "../../src/services/calls/stream_relay.ts";
import type { TextEndpoint } from "../../src/vendors/upstreams/contract/upstream.ts";
import { TextService } from "../../src/services/texts/request/text_service.ts";
import type { Provider } from "../../src/vendors/upstreams/contract/provider.ts";
import { type FailureKind, UpstreamFailure } from "../../src/vendors/upstreams/call/failure.ts";
import { isStreamedBody } from "../../src/vendors/upstreams/call/outbound_body.ts";
import type { OutboundCall } from "../../src/vendors/upstreams/call/outbound_call.ts";
import { replyOf } from "../support/assemble.ts";
import { replyContextOf } from "../support/conversations.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { CODECS } from "../support/formats.ts";
import {
  type AdmissionRecorder,
  admissionRecorder,
  endpointOf,
  type FakeResponse,
  outboundOf,
  providerOf,
  REPLY,
  responseOf,
  wireOf,
} from "./support.ts";

/** How a provider responds to a call. */
export type Behaviour = (call: OutboundCall) => FakeResponse | UpstreamFailure;

/** Options of the text part of a gateway. */
export interface TextGatewayOptions {
  /** By the provider's name: its format and its behaviour. */
  readonly providers?: Readonly<Record<string, readonly [CallerFormatName | readonly CallerFormatName[], Behaviour]>>;
  /** Additional providers that are already open. */
  readonly opened?: ReadonlyMap<string, Provider>;
  readonly model?: JsonObject;
  readonly isBroke?: boolean;
  /** The balance for reservations. Default: more than any of them needs. */
  readonly balance?: Money;
  readonly random?: () => number;
  /** Providers whose vendors reject their credentials. */
  readonly misconfigured?: readonly string[];
  /** Default: an endpoint without a counter. */
  readonly endpoint?: (form: CallerFormatName) => TextEndpoint;
}

/** A call of a provider. */
export interface SentCall {
  readonly provider: string;
  readonly call: OutboundCall;
  /** The text of its body. */
  readonly text: string;
  readonly body: JsonObject;
}

function textOfBody(body: OutboundCall["body"]): string {
  if (body === null || isStreamedBody(body)) throw new Error("Expected a body in memory");
  return new TextDecoder().decode(body instanceof Uint8Array ? body : body.joined());
}

/** The text part of a gateway between a scripted meter and scripted providers. */
export interface TextGateway {
  readonly service: TextService;
  readonly recorder: AdmissionRecorder;
  readonly estimates: Money[];
  /** The providers and bodies of all calls in order. */
  readonly sent: SentCall[];
  readonly logEntries: { readonly event: string; readonly fields: LogFields }[];
  readonly clock: ManualClock;
  readonly openStreams: OpenStreams;
}

/** Creates it with one model, `acme/m`, that every provider serves except one named `stranger`. */
export function textGatewayOf(
  {
    providers = {},
    opened: others = new Map(),
    model,
    isBroke = false,
    balance = 10n ** 20n,
    random = () => 0,
    misconfigured = [],
    endpoint = endpointOf,
  }: TextGatewayOptions,
): TextGateway {
  const recorder = admissionRecorder();
  const estimates: Money[] = [];
  const sent: TextGateway["sent"] = [];
  const logEntries: TextGateway["logEntries"] = [];
  const clock = new ManualClock();
  const openStreams = new OpenStreams();
  const note = (event: string, fields: LogFields = {}) => void logEntries.push({ event, fields });
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const opened = Object.entries(providers).map(([name, [forms, behave]]) => {
    const outbound = outboundOf((call) => {
      const text = textOfBody(call.body);
      sent.push({ provider: name, call, text, body: JSON.parse(text) });
      const result = behave(call);
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    });
    return providerOf(name, [forms].flat().map((form) => endpoint(form as CallerFormatName)), outbound);
  });
  const names = [...opened.map(({ name }) => name), ...others.keys()];
  const serves = names.filter((name) => name !== "stranger").map((provider) => ({
    provider,
    model: "vm",
  }));
  const prices = { prompt: "0.001", completion: "0.002" };
  const fields = { id: "acme/m", pricing: prices, top_provider: { max_completion_tokens: 1000 }, serves, ...model };
  const credentials = { ...UNMONITORED_CREDENTIALS, isRejected: (name: string) => misconfigured.includes(name) };
  const parts: TextParts = {
    catalog: createCatalog([readModel(fields), readModel({ id: "acme/picture", image: {}, serves })]),
    providers: new Map([...opened.map((provider) => [provider.name, provider] as const), ...others]),
    breaker: createCircuitBreaker({ clock, failuresToOpen: 2, credentials }),
    meter: {
      admit(_caller, reservation) {
        estimates.push(typeof reservation === "bigint" ? reservation : reservation(balance).amount);
        if (isBroke) {
          throw new GatewayError("insufficient_credits", "Cannot accept the request: the balance is used up");
        }
        return recorder.admission;
      },
      admitFree: () => recorder.admission,
      probe: () => Promise.resolve(recorder.admission.reserved),
      allowance: () => ({ spendable: balance, budget: null }),
      invalidate() {},
    },
    clock,
    log,
    openStreams,
    reasoning: reasoningMemoryOver(new BoundedMemory(clock)),
    prefixes: new PrefixMemory(clock),
    items: itemMemoryOver(new BoundedMemory(clock)),
    store: { get: (keys: readonly unknown[]) => Promise.resolve(keys.map(() => null)) } as unknown as Store,
    vendorState: stateless,
    mediaInliner: () => Promise.reject(new Error("nothing is to be fetched")),
    missingTokenCounters: new MissingTokenCounters(clock),
    random,
  };
  return {
    service: new TextService(parts),
    recorder,
    estimates,
    sent,
    logEntries,
    clock,
    openStreams,
  };
}

/** Stores no ids, so no account owns any. */
const stateless: StateOwnership = {
  keep: () => Promise.resolve(),
  owners: (states) => Promise.resolve(states.map(() => null)),
};

/** Returns a provider's whole reply in a format. */
export function wholeReply(form: CallerFormatName): Behaviour {
  const { body } = CODECS[form].caller.writeReply(replyOf(REPLY), replyContextOf());
  return () => responseOf([JSON.stringify(body)], "application/json");
}

/** Returns a provider's stream in a format. */
export function streamed(form: CallerFormatName): Behaviour {
  return () => responseOf([wireOf(form, REPLY)]);
}

/** Returns a failing provider. */
export function failing(kind: FailureKind, status: number | null = null): Behaviour {
  return () => new UpstreamFailure("acme", kind, "Said the vendor", { status, accepted: "no" });
}

/** Returns the error of a promise that rejects with a caller's error. */
export async function errorOf(promise: Promise<unknown>): Promise<GatewayError> {
  return await assertRejects(() => promise, GatewayError);
}
