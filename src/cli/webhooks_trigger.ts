import { gatewayFetch } from "./gateway_fetch.ts";
import { type ListedEvent, postEvent } from "./webhooks_listen.ts";
import { UsageError } from "./usage_error.ts";

/** Which event, and where to. */
export interface TriggerOptions {
  /** The gateway's address, without a final slash. */
  readonly gateway: string;
  readonly adminKey: string;
  /** Its name, or the last word of it. */
  readonly event: string;
  /** Whose secret signs it; null for that of the only account. */
  readonly account: string | null;
  /** Where it is posted; null for those who listen. */
  readonly url: string | null;
  readonly print: (line: string) => void;
}

interface MadeEvent extends ListedEvent {
  readonly heard: boolean;
}

/**
 * Makes a test event and posts it to the address, or gives it to those who listen.
 *
 * @returns The exit code: 0 when it was acknowledged, or somebody listens.
 * @throws {UsageError} If there are several accounts and none is named.
 */
export async function triggerEvent(options: TriggerOptions): Promise<number> {
  const { event, url, print } = options;
  const account = options.account ?? await onlyAccount(options);
  const made = await ask<MadeEvent>(options, "/admin/v1/events", { event, account, kept: url === null });
  if (typeof made === "string") {
    print(`! ${made}`);
    return 1;
  }
  print(`${made.event} of ${made.account}: ${made.idempotency_key}`);
  if (url !== null) {
    const { isAcknowledged, text } = await postEvent(url, made, new AbortController().signal);
    print(text);
    return isAcknowledged ? 0 : 1;
  }
  print(
    made.heard ? "given to those who listen" : '! nobody listens: run "switchyard webhooks listen", or give --url URL',
  );
  return made.heard ? 0 : 1;
}

async function onlyAccount(options: TriggerOptions): Promise<string> {
  const accounts = await ask<{ data: readonly { id: string }[] }>(options, "/admin/v1/accounts?limit=2");
  if (typeof accounts === "string") throw new UsageError(`switchyard webhooks trigger: ${accounts}`);
  if (accounts.data.length === 1) return accounts.data[0].id;
  throw new UsageError("switchyard webhooks trigger: expected --account ID, as there is not exactly one account");
}

/** What the admin API answers; of a refusal its message. */
async function ask<T extends object>(
  { gateway, adminKey }: TriggerOptions,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<T | string> {
  const response = await gatewayFetch(gateway + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json() as { error?: { message?: string } };
  return response.ok ? answer as T : answer.error?.message ?? `the admin API answered ${response.status}`;
}
