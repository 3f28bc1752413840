import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { serviceSignature, standardSignature } from "../../services/webhooks/signature.ts";
import { gatewayFetch } from "./find/gateway_fetch.ts";

/** Options of {@linkcode listenForWebhooks}. */
export interface ListenOptions {
  /** The gateway's address, without a final slash. */
  readonly gateway: string;
  readonly adminKey: string;
  /** Gives an account's webhook secret. With null its signatures are not checked. */
  readonly secretOf: (account: string) => string | null;
  /** The account whose events are shown; null for all accounts. */
  readonly account: string | null;
  /** The address to which each event is posted as to its receiver; null to only print events. */
  readonly forward: string | null;
  readonly print: (line: string) => void;
  /** Ends {@linkcode listenForWebhooks}. */
  readonly signal: AbortSignal;
  /** Time between two polls in milliseconds. Default: 1 s. */
  readonly pollMs?: number;
}

/** An event in a response of the admin API. */
export interface ListedEvent {
  readonly account: string;
  readonly event: string;
  readonly idempotency_key: string;
  /** The callback address of the task; null if it has none. */
  readonly url: string | null;
  readonly created_at: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const POLL_MS = 1_000;
/** The time that a receiver has to respond, as for attempts of the gateway. */
const RESPONSE_TIMEOUT_MS = 10_000;

/**
 * Prints, checks and forwards new events until the signal. It polls the gateway's admin API, so it needs no public
 * address. Resolves after the signal.
 */
export async function listenForWebhooks(options: ListenOptions): Promise<void> {
  const { print, signal } = options;
  const seen = new Set<string>();
  let from: number | null = null;
  let lastError: string | null = null;
  while (!signal.aborted) {
    try {
      const { data, next } = await eventsFrom(options, from);
      if (from === null) print(`Listening for webhooks of ${options.gateway}`);
      else if (lastError !== null) print("Listening again");
      from = next;
      lastError = null;
      for (const event of data) await showOnce(options, event, seen);
    } catch (error) {
      const { message } = error as Error;
      if (!signal.aborted && message !== lastError) print(`! ${message}`);
      lastError = message;
    }
    await pause(options.pollMs ?? POLL_MS, signal);
  }
}

async function eventsFrom(
  { gateway, adminKey, signal }: ListenOptions,
  from: number | null,
): Promise<{ data: ListedEvent[]; next: number }> {
  const path = `${OPERATOR_ENDPOINTS.readEvents.path}${from === null ? "" : `?from=${from}`}`;
  const response = await gatewayFetch(gateway + path, { headers: { authorization: `Bearer ${adminKey}` }, signal });
  if (response.ok) return await response.json();
  await response.body?.cancel();
  throw new Error(`The admin API answered with status ${response.status}`);
}

/** The idempotency keys that are kept, to show each event once. */
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
  const target = url === null ? "without a callback_url" : `for ${url}`;
  print(`\n${new Date(created_at * 1_000).toISOString()} ${event} of ${account}, ${target}`);
  for (const name of ["x-service-idempotency-key", "x-service-signature", "webhook-timestamp", "webhook-signature"]) {
    print(`  ${name}: ${headers[name]}`);
  }
  const secret = secretOf(account);
  if (secret === null) print("  signatures not checked");
  else {print(
      isSignedBy(secret, listed) ? "  both signatures are valid" : "  ! a signature is NOT VALID with this secret",
    );}
  print(JSON.stringify(JSON.parse(body), null, 2).replace(/^/gm, "  "));
  if (forward !== null) print(`  ${(await postEvent(forward, listed, signal)).text}`);
}

/** Whether both signatures of a request are valid with the secret. */
function isSignedBy(secret: string, { headers, body }: ListedEvent): boolean {
  const { "webhook-id": id, "webhook-signature": standard, "x-service-signature": own } = headers;
  if (id === undefined || standard === undefined || own === undefined) return false;
  const bytes = new TextEncoder().encode(body);
  const message = { id, timestamp: Number(headers["webhook-timestamp"]), body: bytes };
  return isSame(own, serviceSignature(bytes, secret)) &&
    standard.split(" ").some((each) => isSame(each, standardSignature(message, secret)));
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The result of a POST to a receiver. */
export interface PostResult {
  /** Whether the receiver responded with a 2xx status. */
  readonly isAcknowledged: boolean;
  /** One line for the terminal. */
  readonly text: string;
}

/** Posts an event with the same headers and bytes as the gateway does. */
export async function postEvent(
  url: string,
  { headers, body }: Pick<ListedEvent, "headers" | "body">,
  signal: AbortSignal,
): Promise<PostResult> {
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
  try {
    const either = AbortSignal.any([signal, timeout]);
    const response = await gatewayFetch(url, { method: "POST", headers, body, signal: either });
    await response.body?.cancel();
    return { isAcknowledged: response.ok, text: `forwarded to ${url}: ${response.status}` };
  } catch (error) {
    const reason = timeout.aborted ? `no response within ${RESPONSE_TIMEOUT_MS / 1_000} s` : reasonOf(error as Error);
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
