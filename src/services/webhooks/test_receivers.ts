import { randomBytes } from "node:crypto";
import { readWebhookSecrets } from "../../money/billing/accounts/webhook_secret.ts";
import { CALLER_ENDPOINTS } from "../../platform/endpoints/callers.ts";
import { addressOf } from "../../platform/endpoints/endpoint.ts";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Store } from "../../platform/store/store.ts";
import { serviceSignature, standardSignature } from "./signature.ts";
import { missingAccount } from "../../money/billing/accounts/missing_account.ts";

/** A request that a receiver gets. */
export interface SentEvent {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whether the gateway delivered it itself, or a client sent it over the network. */
  readonly via: "gateway" | "network";
}

/** A request that a receiver got. */
export interface ReceivedEvent {
  /** Its place among all of the receiver, from 1. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly via: SentEvent["via"];
  /** Those of webhooks; others are not kept. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Why the signatures are not valid; null if they are. */
  readonly problem: string | null;
}

/** An open receiver. */
export interface TestReceiver {
  /** Random, and the last part of its address. */
  readonly id: string;
  /** Whose webhook secrets sign what it expects. */
  readonly account: string;
  /** Where it receives. */
  readonly url: string;
  /** Unix milliseconds. */
  readonly closesAt: number;
}

/** The dependencies of {@linkcode TestReceivers}. */
export interface TestReceiverParts {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
  /** Gives the gateway's own address without a final slash. */
  readonly baseUrl: () => string;
}

/** The largest body that a receiver takes. */
export const MAX_RECEIVED_BYTES = 65_536;
/** The maximum number of minutes for which a receiver is open. */
export const MAX_RECEIVER_MINUTES = 30;

const MAX_RECEIVERS = 5;
const MAX_KEPT_EVENTS = 20;
/** A receiver takes no further requests after this many. */
const MAX_EVENTS = 1_000;
const TOKEN_BYTES = 24;
const MINUTE_MS = 60_000;
/** Standard Webhooks recommends five minutes. */
const MAX_AGE_SECONDS = 300;
const KEPT_FIELDS = /^(?:content-type|user-agent|webhook-(?:id|timestamp|signature)|x-service-[a-z-]+)$/;
const MAX_FIELD_CHARACTERS = 1_024;

interface OpenReceiver extends TestReceiver {
  readonly events: ReceivedEvent[];
  count: number;
}

/**
 * Addresses of the gateway itself that an operator opens for some minutes, to see what webhooks send. What they get is
 * kept in memory. Source: docs/decisions/0086-webhook-receivers.md.
 */
export class TestReceivers {
  readonly #open = new Map<string, OpenReceiver>();

  constructor(private readonly parts: TestReceiverParts) {}

  /**
   * Opens a receiver.
   *
   * @throws {GatewayError} `not_found` if there is no such account; `conflict` if too many are open.
   */
  async open(account: string, minutes: number): Promise<TestReceiver> {
    const { store, clock, baseUrl } = this.parts;
    if ((await readWebhookSecrets(store, account)).length === 0) {
      throw await missingAccount(store, account);
    }
    this.#removeClosed();
    if (this.#open.size >= MAX_RECEIVERS) {
      throw new GatewayError("conflict", `Cannot open a receiver: ${MAX_RECEIVERS} are open; close one of them`);
    }
    const id = randomBytes(TOKEN_BYTES).toString("base64url");
    const url = baseUrl() + addressOf(CALLER_ENDPOINTS.receiveWebhook, { id });
    const receiver = { id, account, url, closesAt: clock.now() + minutes * MINUTE_MS, events: [], count: 0 };
    this.#open.set(id, receiver);
    return receiver;
  }

  /** The open receivers. */
  list(): readonly TestReceiver[] {
    this.#removeClosed();
    return [...this.#open.values()];
  }

  /**
   * A receiver and what it got, the newest first.
   *
   * @throws {GatewayError} `not_found` if it is not open.
   */
  read(id: string): { readonly receiver: TestReceiver; readonly events: readonly ReceivedEvent[] } {
    const receiver = this.#find(id);
    if (receiver === null) throw new GatewayError("not_found", "Cannot find the receiver: it is not open");
    return { receiver, events: receiver.events.toReversed() };
  }

  /** Closes a receiver, and forgets what it got. */
  close(id: string): void {
    this.#open.delete(id);
  }

  /** The id of the open receiver at an address; null for every other address. */
  idAt(url: string): string | null {
    if (this.#open.size === 0) return null;
    this.#removeClosed();
    for (const receiver of this.#open.values()) if (receiver.url === url) return receiver.id;
    return null;
  }

  /** Whether a receiver is open. */
  isOpen(id: string): boolean {
    return this.#find(id) !== null;
  }

  /**
   * Takes an event, and checks its signatures.
   *
   * @throws {GatewayError} `not_found` if the receiver is not open; `rate_limited` if it got too many.
   */
  async receive(id: string, { headers, body, via }: SentEvent): Promise<void> {
    const receiver = this.#find(id);
    if (receiver === null) throw new GatewayError("not_found", "Cannot find the receiver");
    if (receiver.count >= MAX_EVENTS) {
      throw new GatewayError("rate_limited", `Cannot take the event: the receiver got ${MAX_EVENTS}`);
    }
    const number = ++receiver.count;
    const { store, clock } = this.parts;
    const secrets = await readWebhookSecrets(store, receiver.account);
    const receivedAt = clock.now();
    receiver.events.push({
      number,
      receivedAt,
      via,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name, value]) =>
          KEPT_FIELDS.test(name) && value.length <= MAX_FIELD_CHARACTERS
        ),
      ),
      body: new TextDecoder().decode(body.subarray(0, MAX_RECEIVED_BYTES)),
      problem: problemOf({ headers, body }, secrets, receivedAt),
    });
    if (receiver.events.length > MAX_KEPT_EVENTS) receiver.events.shift();
  }

  #find(id: string): OpenReceiver | null {
    const receiver = this.#open.get(id);
    return receiver !== undefined && receiver.closesAt > this.parts.clock.now() ? receiver : null;
  }

  #removeClosed(): void {
    const now = this.parts.clock.now();
    for (const [id, { closesAt }] of this.#open) if (closesAt <= now) this.#open.delete(id);
  }
}

/** Why an event cannot be verified, as a receiver would check it; null if it can. Source: docs/api/webhooks.md. */
function problemOf(
  { headers, body }: Pick<SentEvent, "headers" | "body">,
  secrets: readonly string[],
  now: number,
): string | null {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = headers;
  const own = headers["x-service-signature"];
  if (own !== undefined && !secrets.some((secret) => serviceSignature(body, secret) === own)) {
    return "X-Service-Signature is not that of the account's secret";
  }
  if (id === undefined || time === undefined || signature === undefined) {
    return own === undefined ? "It has no signature" : null;
  }
  if (!/^\d{1,12}$/.test(time) || Math.abs(now / 1_000 - Number(time)) > MAX_AGE_SECONDS) {
    return "Webhook-Timestamp is more than five minutes away";
  }
  const message = { id, timestamp: Number(time), body };
  const expected = new Set(secrets.map((secret) => standardSignature(message, secret)));
  return signature.split(" ").some((each) => expected.has(each))
    ? null
    : "Webhook-Signature is not that of the account's secret";
}
