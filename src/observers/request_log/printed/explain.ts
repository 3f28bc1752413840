import { exactCostOf, readRate } from "../../../platform/lib/basics/money.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import {
  instantOf,
  plain,
  type PrintedAttempt,
  type PrintedRequest,
  type PrintedRoute,
  shortAmount,
} from "./request_line.ts";

/** Writes an instant, given in Unix seconds. */
export type FormatInstant = (seconds: number) => string;

/**
 * Describes in sentences what happened to a request: the choice of providers, the attempts, the reply, the price.
 *
 * @param format How instants are written. Default: in UTC, with milliseconds.
 */
export function explain(request: PrintedRequest, format: FormatInstant = instantOf): string[] {
  return [
    ...arrivalOf(request, format),
    ...modelOf(request),
    ...request.routes.flatMap((route) => routeLines(route, format)),
    ...limitLines(request, format),
    ...attemptLines(request),
    ...answerLines(request),
    ...droppedLines(request),
    ...replyLines(request),
    ...priceLines(request),
  ];
}

function arrivalOf(request: PrintedRequest, format: FormatInstant): string[] {
  const { id, method, path, account, key, client_address, received_at } = request;
  const caller = account === null ? "without a valid key" : `by account ${account} with key ${key ?? "unknown"}`;
  return [`${id}: ${method} ${plain(path)} at ${format(received_at)}, ${caller}, from ${client_address}.`];
}

function modelOf({ model, served_model, routes }: PrintedRequest): string[] {
  if (model === null) return [];
  const asked = `It asked for the model "${plain(model)}".`;
  const first = routes[0]?.model ?? served_model;
  if (first === null || first === undefined) return [asked];
  const named = first === model ? asked : `${asked} In the catalog that is "${first}".`;
  return served_model === null || served_model === first
    ? [named]
    : [named, `Its fallback model "${served_model}" served the request.`];
}

const STATES: Readonly<Record<string, string>> = {
  ready: "could be tried",
  circuit_open: "came last, because its circuit was open",
  misconfigured: "was passed over, because its vendor rejects the gateway's credential",
  not_able: "was passed over, because it does not support this request",
  drain: "was passed over, because it is drained",
  off: "was passed over, because it is off",
  not_pinned: "was passed over, because the caller asked for another provider",
};

function routeLines({ model, pin, warm, candidates }: PrintedRoute, format: FormatInstant): string[] {
  const total = candidates.reduce((sum, { weight, state }) => state === "ready" ? sum + weight : sum, 0);
  const choice = pin === null
    ? `"${model}" has these providers. Those that could be tried were ordered at random by weight:`
    : `"${model}" has these providers. The caller asked for "${plain(pin)}":`;
  return [
    choice,
    ...candidates.map(({ provider, weight, state, by, since }) => {
      const share = state === "ready" && pin === null && total > 0 ? ` (${weight} of ${total})` : "";
      const setter = by === undefined ? "" : by === null ? " by the configuration" : ` by ${plain(by)}`;
      const time = since === undefined || since === null ? "" : ` since ${format(since)}`;
      return `  ${provider} ${ownValue(STATES, state) ?? state}${setter}${time}${share}.`;
    }),
    ...warm === undefined
      ? []
      : [`  ${warm} came first, because it has read this conversation last and its vendor may have it in its cache.`],
  ];
}

/** Of a row of an earlier version, neither is known. */
function limitLines({ refusal, reserved }: PrintedRequest, format: FormatInstant): string[] {
  if (refusal) {
    const { holder, limit, value, resets_at } = refusal;
    const name = limit === "budget" ? `budget of its ${holder}, ${value}` : `limit ${limit} of its ${holder}, ${value}`;
    return [`It was refused by the ${name}. ${resetText(limit, resets_at, format)}`];
  }
  if (!reserved) return [];
  const tokens = reserved.tokens === null ? "" : ` and ${reserved.tokens} tokens`;
  return [`It was admitted, and reserved up to ${shortAmount(reserved.amount)} USD${tokens}.`];
}

function resetText(limit: string, resetsAt: number | null, format: FormatInstant): string {
  if (limit === "concurrency") return "A place is free when another request ends.";
  if (resetsAt === null) return "It does not reset.";
  return limit === "budget"
    ? `It resets at ${format(resetsAt)}.`
    : `A request of this size fits from ${format(resetsAt)} on.`;
}

function attemptLines({ attempts, routes }: PrintedRequest): string[] {
  if (attempts.length === 0) return ["No provider was called."];
  const only = routes.length === 0 && attempts.length === 1 ? ", its only provider" : "";
  return attempts.map((attempt, index) => `Attempt ${index + 1}: ${attemptText(attempt, only)}`);
}

function attemptText(attempt: PrintedAttempt, only: string): string {
  const { provider, model, duration_ms, status, vendor_request_id, code, message } = attempt;
  const target = `${provider}${only}, with its model "${model}",`;
  const after = duration_ms === null ? "" : ` after ${duration_ms} ms`;
  const vendorId = vendor_request_id === null ? "" : ` The vendor's request id is ${plain(vendor_request_id)}.`;
  if (code === null) return `${target} responded${after}.${vendorId}`;
  const withStatus = status === null ? "" : ` with status ${status}`;
  return `${target} failed${withStatus}${after}: ${code}: ${sentence(message)}${vendorId}`;
}

/** A message with a mark at its end. */
function sentence(message: string | null): string {
  const text = plain(message ?? "no message").trimEnd();
  return /[.!?…。！？]["'”’»)\]]*$/.test(text) ? text : `${text}.`;
}

function answerLines({ answered_by: model }: PrintedRequest): string[] {
  return model ? [`The vendor answered with another model, "${plain(model)}".`] : [];
}

function droppedLines({ dropped }: PrintedRequest): string[] {
  if (dropped.length === 0) return [];
  return [`The vendor does not support these fields, so they were dropped: ${dropped.map(plain).join(", ")}.`];
}

const ENDS: Readonly<Record<string, string>> = {
  completed: "The reply was complete.",
  cut: "The reply was cut off before its end, by the vendor or the gateway.",
  left: "The caller disconnected before the end of the reply.",
};

function replyLines({ status, error, first_byte_ms, duration_ms, end }: PrintedRequest): string[] {
  const times = first_byte_ms === null
    ? `The caller got no response; the request ended after ${duration_ms} ms.`
    : `The caller got status ${status} after ${first_byte_ms} ms; the request ended after ${duration_ms} ms.`;
  const failure = error === null ? [] : [`The error was ${error.code}: ${sentence(error.message)}`];
  const ended = end === null ? undefined : ownValue(ENDS, end);
  return [ended === undefined ? times : `${times} ${ended}`, ...failure];
}

function priceLines({ cost, charged, usage, price_conditions: conditions = [] }: PrintedRequest): string[] {
  if (cost === null) return ["Nothing was charged."];
  const estimated = usage?.is_estimated ? " The vendor reported no usage, so the gateway counted the tokens." : "";
  return [
    `It cost ${shortAmount(cost)} USD.${estimated}`,
    ...conditions.length === 0 ? [] : [`The prices are those for: ${conditions.map(plain).join("; ")}.`],
    ...charged.map(({ price, quantity, rate }) =>
      `  ${price}: ${quantity} × ${rate} USD = ${exactText(exactCostOf(quantity, readRate(rate)))} USD`
    ),
  ];
}

/** Digits of a thousandth of a rate's unit. */
const EXACT_DIGITS = 21;

function exactText(exact: bigint): string {
  const digits = exact.toString().padStart(EXACT_DIGITS + 1, "0");
  return shortAmount(`${digits.slice(0, -EXACT_DIGITS)}.${digits.slice(-EXACT_DIGITS)}`);
}
