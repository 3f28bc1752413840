import { OPERATOR_ENDPOINTS } from "../../platform/endpoints/operators.ts";
import { gatewayFetch } from "./find/gateway_fetch.ts";
import { type ListedEvent, postEvent } from "./webhooks_listen.ts";
import { UsageError } from "./usage_error.ts";

/** Options of {@linkcode triggerEvent}. */
export interface TriggerOptions {
  /** The gateway's address, without a final slash. */
  readonly gateway: string;
  readonly adminKey: string;
  /** The name of the event, or its last part. */
  readonly event: string;
  /** The account whose secret signs the event; null for the only account. */
  readonly account: string | null;
  /** The address to which the event is posted; null for `webhooks listen` processes. */
  readonly url: string | null;
  readonly print: (line: string) => void;
}

interface TestEvent extends ListedEvent {
  /** Whether a `webhooks listen` process polls the gateway. */
  readonly heard: boolean;
}

/**
 * Creates a test event and posts it to the address, or leaves it to `webhooks listen` processes.
 *
 * @returns The exit code: 0 if the receiver acknowledged the event or a process listens, else 1.
 * @throws {UsageError} If no account is given and there is not exactly one.
 */
export async function triggerEvent(options: TriggerOptions): Promise<number> {
  const { event, url, print } = options;
  const account = options.account ?? await onlyAccount(options);
  const created = await request<TestEvent>(options, OPERATOR_ENDPOINTS.createTestEvent.path, {
    event,
    account,
    kept: url === null,
  });
  if (typeof created === "string") {
    print(`! ${created}`);
    return 1;
  }
  print(`${created.event} of ${created.account}: ${created.idempotency_key}`);
  if (url !== null) {
    const { isAcknowledged, text } = await postEvent(url, created, new AbortController().signal);
    print(text);
    return isAcknowledged ? 0 : 1;
  }
  print(
    created.heard
      ? 'passed on to "switchyard webhooks listen"'
      : '! no listener is connected: run "switchyard webhooks listen", or add --url URL',
  );
  return created.heard ? 0 : 1;
}

async function onlyAccount(options: TriggerOptions): Promise<string> {
  const accounts = await request<{ data: readonly { id: string }[] }>(
    options,
    `${OPERATOR_ENDPOINTS.listAccounts.path}?limit=2`,
  );
  if (typeof accounts === "string") throw new UsageError(`switchyard webhooks trigger: ${accounts}`);
  const [account, ...others] = accounts.data;
  if (account !== undefined && others.length === 0) return account.id;
  throw new UsageError("switchyard webhooks trigger: --account ID is required, as there is not exactly one account");
}

/** The body of a response of the admin API; for an error its message. */
async function request<T extends object>(
  { gateway, adminKey }: TriggerOptions,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<T | string> {
  const response = await gatewayFetch(gateway + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const json = await response.json() as { error?: { message?: string } };
  return response.ok ? json as T : json.error?.message ?? `The admin API answered with status ${response.status}`;
}
