import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { serviceSignature, standardSignature } from "../webhooks/signature.ts";
import { gatewayFetch } from "./gateway_fetch.ts";

/** Where events are looked for, and what is done with each. */
export interface ListenOptions {
  /** The gateway's address, without a final slash. */
  readonly gateway: string;
  readonly adminKey: string;
  /** An account's webhook secret; null leaves its signatures unchecked. */
  readonly secretOf: (account: string) => string | null;
  /** Whose events; null for those of all accounts. */
  readonly account: string | null;
  /** Where each event is posted as its receiver would get it; null only prints. */
  readonly forward: string | null;
  readonly print: (line: string) => void;
  /** Ends the listening. */
  readonly signal: AbortSignal;
  /** Default 1 s. */
  readonly pollMs?: number;
}

/** An event as the admin API tells it. */
export interface ListedEvent {
  readonly account: string;
  readonly event: string;
  readonly idempotency_key: string;
  /** Null when the task has no callback address. */
  readonly url: string | null;
  readonly created_at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const POLL_MS = 1_000;
/** How long a receiver may take to answer, as the gateway's own attempts. */
const ANSWER_MS = 10_000;

/**
 * Prints, checks and forwards events from now on, until the signal. They are asked of the gateway's admin API, so that
 * no public address is needed. Resolves when it is over.
 */
export async function listenForWebhooks(options: ListenOptions): Promise<void> {
  const { print, signal } = options;
  const seen = new Set<string>();
  let from: number | null = null;
  let trouble: string | null = null;
  while (!signal.aborted) {
    try {
      const { data, next } = await eventsFrom(options, from);
      if (from === null) print(`Listening for webhooks of ${options.gateway}`);
      else if (trouble !== null) print("Listening again");
      from = next;
      trouble = null;
      for (const event of data) await showOnce(options, event, seen);
    } catch (error) {
      const { message } = error as Error;
      if (!signal.aborted && message !== trouble) print(`! ${message}`);
      trouble = message;
    }
    await pause(options.pollMs ?? POLL_MS, signal);
  }
}

async function eventsFrom(
  { gateway, adminKey, signal }: ListenOptions,
  from: number | null,
): Promise<{ data: ListedEvent[]; next: number }> {
  const path = `/admin/v1/events${from === null ? "" : `?from=${from}`}`;
  const response = await gatewayFetch(gateway + path, { headers: { authorization: `Bearer ${adminKey}` }, signal });
  if (response.ok) return await response.json();
  await response.body?.cancel();
  throw new Error(`The admin API answered ${response.status}`);
}

const MAX_SEEN = 10_000;

async function showOnce(options: ListenOptions, event: ListedEvent, seen: Set<string>): Promise<void> {
  if (options.account !== null && options.account !== event.account) return;
  if (seen.has(event.idempotency_key)) return;
  seen.add(event.idempotency_key);
  if (seen.size > MAX_SEEN) { for (const oldest of seen.values().take(1)) seen.delete(oldest); }
  await show(options, event);
}

async function show({ secretOf, forward, print, signal }: ListenOptions, listed: ListedEvent): Promise<void> {
  const { account, event, url, created_at, headers, body } = listed;
  const whereTo = url === null ? "without a callback_url" : `for ${url}`;
  print(`\n${new Date(created_at * 1_000).toISOString()} ${event} of ${account}, ${whereTo}`);
  for (const name of ["x-service-idempotency-key", "x-service-signature", "webhook-timestamp", "webhook-signature"]) {
    print(`  ${name}: ${headers[name]}`);
  }
  const secret = secretOf(account);
  if (secret === null) print("  signatures were not checked");
  else print(isSignedBy(secret, listed) ? "  both signatures are right" : "  ! a signature is WRONG by this secret");
  print(JSON.stringify(JSON.parse(body), null, 2).replace(/^/gm, "  "));
  if (forward !== null) print(`  ${(await postEvent(forward, listed, signal)).text}`);
}

/** Whether both signatures of a request are by this secret. */
function isSignedBy(secret: string, { headers, body }: ListedEvent): boolean {
  const bytes = new TextEncoder().encode(body);
  const message = { id: headers["webhook-id"], timestamp: Number(headers["webhook-timestamp"]), body: bytes };
  const standard = headers["webhook-signature"].split(" ");
  return isSame(headers["x-service-signature"], serviceSignature(bytes, secret)) &&
    standard.some((each) => isSame(each, standardSignature(message, secret)));
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** What came of a POST. */
export interface Posted {
  /** Whether it was acknowledged. */
  readonly isAcknowledged: boolean;
  /** For the terminal. */
  readonly text: string;
}

/** Posts an event with the headers and bytes that its receiver would get. */
export async function postEvent(
  url: string,
  { headers, body }: Pick<ListedEvent, "headers" | "body">,
  signal: AbortSignal,
): Promise<Posted> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  try {
    const either = AbortSignal.any([signal, limit]);
    const response = await gatewayFetch(url, { method: "POST", headers, body, signal: either });
    await response.body?.cancel();
    return { isAcknowledged: response.ok, text: `forwarded to ${url}: ${response.status}` };
  } catch (error) {
    const reason = limit.aborted ? `no answer within ${ANSWER_MS / 1_000} s` : reasonOf(error as Error);
    return { isAcknowledged: false, text: `! not forwarded to ${url}: ${reason}` };
  }
}

function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const end = () => resolve();
  signal.addEventListener("abort", end);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  });
}
