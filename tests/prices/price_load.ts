import { assert } from "@std/assert";
import { readRate } from "../../src/platform/lib/basics/money.ts";
import type { ChargedRequest } from "../support/account_money.ts";
import type { TestGateway } from "../support/gateway.ts";
import { admin } from "./support.ts";

/** The model of the load. */
export const MODEL = "openai/gpt-6-sol";
/** Prompt and completion. Each differs from the one before by less than half. */
export const PRICES = [["0.000002", "0.00001"], ["0.0000025", "0.0000125"], ["0.000003", "0.000015"]] as const;

/** A request, when it was sent and answered, and what it cost. */
export interface Sample {
  readonly id: string;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly status: number;
}

/** Sends a request over a new connection, which the system gives to any thread. */
export async function send({ address, key }: TestGateway): Promise<Sample> {
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const sentAt = performance.now();
  const response = await fetch(`${address}/v1/chat/completions`, {
    client,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, max_tokens: 40, messages: [{ role: "user", content: "Count to three" }] }),
  });
  await response.body?.cancel();
  const id = response.headers.get("x-service-request-id") ?? "";
  return { id, sentAt, endedAt: performance.now(), status: response.status };
}

/** Sends requests one after the other until told to stop. */
export async function sendUntil(gateway: TestGateway, isDone: () => boolean, samples: Sample[]): Promise<void> {
  for (let count = 0; count < 5_000 && !isDone(); count++) samples.push(await send(gateway));
}

/** The charges of the account `demo` by request. */
export async function chargesOf(gateway: TestGateway): Promise<ReadonlyMap<string, ChargedRequest>> {
  const charges = new Map<string, ChargedRequest>();
  let after = "";
  for (let pages = 0; pages < 1_000; pages++) {
    const { body } = await admin(gateway, "GET", `accounts/demo/ledger?limit=100${after}`);
    for (const { requests = [] } of body.data) {
      for (const each of requests) charges.set(each.request_id, each);
    }
    if (body.next === null) break;
    after = `&after=${body.next}`;
  }
  return charges;
}

/** Which of the prices a request was charged at; -1 for none of them. */
function versionOf({ cost, usage }: ChargedRequest): number {
  const [input, output] = [Number(usage.fresh_tokens ?? 0), Number(usage.output_tokens ?? 0)];
  return PRICES.findIndex(([prompt, completion]) => {
    const exact = readRate(prompt) * BigInt(input) + readRate(completion) * BigInt(output);
    return readRate(cost) === exact;
  });
}

/** A request with the place of its prices in {@linkcode PRICES}. */
export interface PricedSample extends Sample {
  readonly version: number;
}

/**
 * The requests with their prices. Each was charged once, at prices of the list, and whoever began after a reply at a
 * new price had been read has that price too.
 */
export function pricedAlike(
  samples: readonly Sample[],
  charges: ReadonlyMap<string, ChargedRequest>,
): readonly PricedSample[] {
  const priced = samples.map((sample) => {
    const charge = charges.get(sample.id);
    assert(charge !== undefined, `request ${sample.id} with status ${sample.status} was not charged`);
    return { ...sample, version: versionOf(charge) };
  });
  const ended = priced.toSorted((one, other) => one.endedAt - other.endedAt);
  for (const { sentAt, version, id } of priced) {
    assert(version >= 0, `request ${id} was charged at no price of the list`);
    const known = ended.filter(({ endedAt }) => endedAt < sentAt).reduce((max, each) => Math.max(max, each.version), 0);
    assert(version >= known, `a request was charged at price ${version} after one at price ${known}`);
  }
  return priced;
}
