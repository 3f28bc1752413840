import type { Charge } from "../../money/billing/meter/meter.ts";
import type { RecordedFacts } from "../../platform/http/request/request_record.ts";
import type { AccessLimits } from "../../money/limits/access_limits.ts";
import type { LimitedCaller } from "../../money/limits/limited_caller.ts";
import type { Call, ToStateThread } from "../state/messages.ts";
import type { FromServing, RecordMessage, ToServing } from "./messages.ts";

/**
 * Messages between the main thread and a serving thread as one text of JSON, in which amounts are text. A text costs
 * half the processor time of a structured clone. Rare messages, whose values may not fit JSON, are cloned.
 */

/** A value with its amounts as text. */
type Wire<T> = T extends bigint ? string
  : T extends string | number | boolean | null | undefined ? T
  : { [Field in keyof T]: Wire<T[Field]> };

type Message = FromServing | ToServing;

/** What is posted: a text, or the messages themselves if one of them does not fit JSON. */
export type Posted = string | readonly Message[];

/** Writes messages, in their order. */
export function writeMessages(messages: readonly Message[]): Posted {
  const written: unknown[] = [];
  for (const message of messages) {
    const wire = writeMessage(message);
    if (wire === null) return messages;
    written.push(wire);
  }
  return JSON.stringify(written);
}

/** Reads what {@linkcode writeMessages} wrote. */
export function readMessages<M extends Message>(posted: unknown): readonly M[] {
  if (typeof posted !== "string") return posted as readonly M[];
  const messages = JSON.parse(posted);
  for (let at = 0; at < messages.length; at++) messages[at] = readMessage(messages[at]);
  return messages;
}

/** Null if the message does not fit JSON. */
function writeMessage(message: Message): unknown {
  switch (message.type) {
    case "record":
      return message.bodies === null ? { ...message, facts: writeFacts(message.facts) } : null;
    case "open-requests":
      return { ...message, requests: message.requests.map(writeMessage) };
    case "call": {
      const what = writeCall(message.what);
      return what === null ? null : { ...message, what };
    }
    case "result":
      return isJson(message) ? message : null;
    case "release":
    case "cancel-call":
    case "end-slot":
    case "attempt":
    case "attempted":
    case "overdrawn":
    case "lease-report":
    case "leased":
    case "report-leases":
    case "lease-overdrawn":
    case "written":
    case "unwritten":
    case "successes":
    case "public-wrong-key":
      return message;
    default:
      return null;
  }
}

function readMessage(wire: Wire<Message>): Message {
  switch (wire.type) {
    case "record":
      return readRecord(wire);
    case "open-requests":
      return { type: wire.type, requests: wire.requests.map(readRecord) };
    case "call":
      return { ...wire, what: readCall(wire.what) };
    default:
      return wire as Message;
  }
}

function readRecord({ facts, ...rest }: Wire<RecordMessage>): RecordMessage {
  return { ...rest, facts: readFacts(facts) } as RecordMessage;
}

/** Whether a result is nothing, a number, a truth value, an admission or an error. */
function isJson({ value }: ToStateThread & { readonly type: "result" }): boolean {
  if (typeof value === "object") return value === null || "admission" in value;
  return value === undefined || typeof value === "number" || typeof value === "boolean";
}

function writeCall(call: Call): Wire<Call> | null {
  switch (call.name) {
    case "admit": {
      const { amount } = call.reserved;
      const reserved = { ...call.reserved, amount: String(amount) };
      return { ...call, caller: writeCaller(call.caller), reserved };
    }
    case "admit-free":
    case "rates-left":
      return { name: call.name, caller: writeCaller(call.caller) };
    case "charge":
      return { ...call, charge: writeCharge(call.charge) };
    case "slot":
    case "count-keys":
      return call;
    default:
      return null;
  }
}

function readCall(wire: Wire<Call>): Call {
  switch (wire.name) {
    case "admit":
      return {
        ...wire,
        caller: readCaller(wire.caller),
        reserved: { ...wire.reserved, amount: BigInt(wire.reserved.amount) },
      };
    case "admit-free":
    case "rates-left":
      return { name: wire.name, caller: readCaller(wire.caller) };
    case "charge":
      return { ...wire, charge: readCharge(wire.charge) } as Call;
    default:
      return wire as Call;
  }
}

function writeCharge({ amount, cacheSaved, ...charge }: Charge): Wire<Charge> {
  const saved = cacheSaved === undefined ? {} : { cacheSaved: String(cacheSaved) };
  return { ...charge, amount: String(amount), ...saved } as Wire<Charge>;
}

function readCharge({ amount, cacheSaved, ...charge }: Wire<Charge>): Charge {
  const saved = cacheSaved === undefined ? {} : { cacheSaved: BigInt(cacheSaved) };
  return { ...charge, amount: BigInt(amount), ...saved } as Charge;
}

function writeCaller({ keyId, accountId, limits }: LimitedCaller): Wire<LimitedCaller> {
  const written = limits && { key: writeLimits(limits.key), account: writeLimits(limits.account) };
  return { keyId, accountId, limits: written };
}

function readCaller({ keyId, accountId, limits }: Wire<LimitedCaller>): LimitedCaller {
  return { keyId, accountId, limits: limits && { key: readLimits(limits.key), account: readLimits(limits.account) } };
}

function writeLimits(limits: AccessLimits): Wire<AccessLimits> {
  const { budget } = limits;
  const written = budget === undefined ? limits : { ...limits, budget: { ...budget, amount: String(budget.amount) } };
  return written as Wire<AccessLimits>;
}

function readLimits(limits: Wire<AccessLimits>): AccessLimits {
  const { budget } = limits;
  const read = budget === undefined ? limits : { ...limits, budget: { ...budget, amount: BigInt(budget.amount) } };
  return read as AccessLimits;
}

function writeFacts(facts: RecordedFacts): Wire<RecordedFacts> {
  const { reserved, cost, charged, cacheSaved, ...plain } = facts;
  return {
    ...plain,
    ...cacheSaved !== undefined && { cacheSaved: String(cacheSaved) },
    reserved: reserved && { ...reserved, amount: String(reserved.amount) },
    cost: cost === null ? null : String(cost),
    charged: charged.map(({ quantities, tariff }) => ({ quantities, tariff: mapped(tariff, String) })),
  } as Wire<RecordedFacts>;
}

function readFacts(facts: Wire<RecordedFacts>): RecordedFacts {
  const { reserved, cost, charged, cacheSaved, ...plain } = facts;
  return {
    ...plain,
    ...cacheSaved !== undefined && { cacheSaved: BigInt(cacheSaved) },
    reserved: reserved && { ...reserved, amount: BigInt(reserved.amount) },
    cost: cost === null ? null : BigInt(cost),
    charged: charged.map(({ quantities, tariff }) => ({ quantities, tariff: mapped(tariff, BigInt) })),
  } as RecordedFacts;
}

function mapped<A, B>(values: Readonly<Partial<Record<string, A>>>, of: (value: A) => B): Partial<Record<string, B>> {
  const out: Partial<Record<string, B>> = {};
  for (const key in values) out[key] = of(values[key] as A);
  return out;
}
