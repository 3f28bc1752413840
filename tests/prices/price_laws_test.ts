import { assert, assertEquals } from "@std/assert";
import { readMoney, readRate } from "../../src/lib/money.ts";
import { accountMoney, type ChargedRequest } from "../support/account_money.ts";
import type { TestGateway } from "../support/gateway.ts";
import { admin, ownList, pricingOf, startPricedGateway, startPriceServer } from "./support.ts";

const MODEL = "openai/gpt-6-sol";
/** Each differs from the one before by less than half. */
const PRICES = [["0.000002", "0.00001"], ["0.0000025", "0.0000125"], ["0.000003", "0.000015"]] as const;

/** A request, when it was sent and answered, and what it cost. */
interface Sample {
  readonly id: string;
  readonly sentAt: number;
  readonly endedAt: number;
  readonly status: number;
}

/** Sends a request over a new connection, which the system gives to any thread. */
async function send({ address, key }: TestGateway): Promise<Sample> {
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
async function sendUntil(gateway: TestGateway, isDone: () => boolean, samples: Sample[]): Promise<void> {
  for (let count = 0; count < 5_000 && !isDone(); count++) samples.push(await send(gateway));
}

async function chargesOf(gateway: TestGateway): Promise<ReadonlyMap<string, ChargedRequest>> {
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

for (const isolates of [1, 2]) {
  Deno.test(`with ${isolates} threads: while prices change under load, all price alike and the sum is exact`, async () => {
    const lists = PRICES.map(([prompt, completion]) => ownList({ [MODEL]: { prompt, completion } }));
    const server = startPriceServer(lists[0]);
    const gateway = await startPricedGateway(server, { isolates, balance: "25.00" });
    const samples: Sample[] = [];
    let isDone = false;
    try {
      const load = Promise.all([1, 2, 3].map(() => sendUntil(gateway, () => isDone, samples)));
      for (const [index, list] of lists.entries()) {
        server.list = list;
        assertEquals((await admin(gateway, "POST", "prices/refresh")).status, 200);
        for (let tries = 0; tries < 2_000; tries++) {
          if ((await pricingOf(gateway, MODEL))?.prompt === PRICES[index]?.[0]) break;
        }
      }
      const before = samples.length;
      for (let tries = 0; tries < 2_000 && samples.length < before + 10; tries++) await send(gateway);
      isDone = true;
      await load;
      const money = accountMoney(gateway);
      const charges = await chargesOf(gateway);
      const spent = [...charges.values()].reduce((sum, { cost }) => sum + readMoney(cost), 0n);
      assertEquals(await money.balance(), readMoney("25") - spent);
      const priced = samples.map((sample) => {
        const charge = charges.get(sample.id);
        assert(charge !== undefined, `request ${sample.id} with status ${sample.status} was not charged`);
        return { ...sample, version: versionOf(charge) };
      });
      assertEquals(priced.filter(({ version }) => version < 0), []);
      // Whoever begins after a reply at a new price has been read has that price too, on whichever thread.
      const ended = priced.toSorted((one, other) => one.endedAt - other.endedAt);
      for (const { sentAt, version } of priced) {
        const known = ended.filter(({ endedAt }) => endedAt < sentAt).reduce(
          (max, each) => Math.max(max, each.version),
          0,
        );
        assert(version >= known, `a request was charged at price ${version} after one at price ${known}`);
      }
      assertEquals(new Set(priced.map(({ version }) => version)), new Set([0, 1, 2]));
    } finally {
      isDone = true;
      await gateway.stop();
      await server.stop();
    }
  });

  Deno.test(`with ${isolates} threads: a hold is never below its charge while prices rise`, async () => {
    const server = startPriceServer(ownList({ [MODEL]: {} }));
    const gateway = await startPricedGateway(server, { isolates, balance: "0.02" });
    const samples: Sample[] = [];
    let isDone = false;
    try {
      const load = Promise.all([1, 2, 3].map(() => sendUntil(gateway, () => isDone, samples)));
      for (const [prompt, completion] of PRICES.slice(1)) {
        server.list = ownList({ [MODEL]: { prompt, completion } });
        await admin(gateway, "POST", "prices/refresh");
        for (let tries = 0; tries < 2_000; tries++) {
          if ((await pricingOf(gateway, MODEL))?.prompt === prompt) break;
        }
      }
      for (let tries = 0; tries < 5_000; tries++) {
        if (samples.some(({ status }) => status === 402)) break;
        await send(gateway);
      }
      isDone = true;
      await load;
      assert(samples.some(({ status }) => status === 402), "the money was used up");
      const balance = await accountMoney(gateway).balance();
      assert(balance >= 0n, `the balance is ${balance}`);
    } finally {
      isDone = true;
      await gateway.stop();
      await server.stop();
    }
  });
}
