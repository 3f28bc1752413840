import { assertEquals } from "@std/assert";
import { startTestGateway, type TestGateway } from "../../support/gateway.ts";
import { callerOf } from "../../support/gateway_call.ts";
import { itemAt } from "../../support/items.ts";
import { isPostgresWanted, type PostgresServer, startPostgres } from "../../support/postgres_server.ts";

const GATEWAYS = 3;
/** A reply costs 0.00011 USD at most: one token of the prompt, and eight of the completion. */
const CHAT = { model: "sandbox/chat-1", max_tokens: 8, messages: [{ role: "user", content: "[[say Hi]]" }] };

if (isPostgresWanted) {
  const server = await startPostgres();
  registerTests(server);
  Deno.test("small limits: the server is stopped", () => server.stop());
}

let databases = 0;

/** Runs a test over gateways that share a database, with keys of `demo` that have limits. */
async function overGateways(
  server: PostgresServer,
  isolates: number,
  run: (
    keyOf: (limits: Readonly<Record<string, unknown>>) => Promise<(gateway: number) => Promise<number>>,
  ) => Promise<void>,
): Promise<void> {
  const database = `small_${++databases}`;
  await server.run(`create database ${database}`);
  const folder = await Deno.makeTempDir();
  const options = { store: server.url(database), isolates, config: { files: folder } };
  const gateways: TestGateway[] = [];
  for (let n = 0; n < GATEWAYS; n++) gateways.push(await startTestGateway(options));
  const [first] = gateways;
  const admin = callerOf(itemAt(gateways, 0).address, { authorization: `Bearer ${first?.adminKey}` });
  try {
    await run(async (limits) => {
      const { status, json } = await admin("POST", "/admin/v1/accounts/demo/keys", limits);
      assertEquals(status, 201);
      const calls = gateways.map(({ address }) => callerOf(address, { authorization: `Bearer ${json.secret}` }));
      // A database that a busy machine slows down is no refusal by a limit.
      const call = async (gateway: number): Promise<number> => {
        const { status } = await itemAt(calls, gateway % GATEWAYS)("POST", "/v1/chat/completions", CHAT);
        return status === 503 ? await call(gateway) : status;
      };
      return call;
    });
  } finally {
    for (const gateway of gateways) await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

function registerTests(server: PostgresServer): void {
  for (const isolates of [1, 2]) {
    const title = (promise: string) => `small limits, three gateways, ${isolates} threads: ${promise}`;

    Deno.test(title("no call is refused that is made after the one before, with concurrency 1"), async () => {
      await overGateways(server, isolates, async (keyOf) => {
        const call = await keyOf({ concurrency: 1 });
        const statuses: number[] = [];
        for (let n = 0; n < 45; n++) statuses.push(await call(n));
        assertEquals(statuses, Array(45).fill(200));
      });
    });

    Deno.test(title("a rate is used up by calls one after the other, and no call more"), async () => {
      await overGateways(server, isolates, async (keyOf) => {
        const call = await keyOf({ rpm: 20 });
        const startedAt = performance.now();
        const statuses: number[] = [];
        for (let n = 0; n < 20; n++) statuses.push(await call(n));
        assertEquals(statuses, Array(20).fill(200));
        let further = 0;
        for (let n = 0; n < 6; n++) if (await call(n) === 200) further++;
        const regained = Math.floor((performance.now() - startedAt) / 3_000);
        assertEquals(further <= regained, true, `${further} more, and ${regained} were regained`);
      });
    });

    Deno.test(title("calls at the same time keep to a small limit"), async () => {
      await overGateways(server, isolates, async (keyOf) => {
        const call = await keyOf({ budget: { amount: "0.0001", per: "total" } });
        const statuses = await Promise.all(Array.from({ length: 30 }, (_, n) => call(n)));
        assertEquals(new Set(statuses).isSubsetOf(new Set([200, 402])), true, String(statuses));
        const paid = statuses.filter((status) => status === 200).length;
        let after = 0;
        while (await call(after) === 200) after++;
        const most = paid + after;
        assertEquals(most > 0 && most < 12, true, `${paid} and ${after}`);
      });
    });
  }
}
