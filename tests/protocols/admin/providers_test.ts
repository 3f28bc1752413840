import { assert, assertEquals } from "@std/assert";
import { CHAT, sendAs } from "../../e2e/caller_protocols.ts";
import { startTestGateway, type TestGateway, textModel } from "../../support/gateway.ts";

async function providersOf({ address, adminKey }: TestGateway) {
  const response = await fetch(`${address}/admin/v1/providers`, { headers: { authorization: `Bearer ${adminKey}` } });
  return await response.json();
}

const CLOSED = { circuit: "closed", failures_in_a_row: 0, rests_until: null };
/** Of a provider without limits, polls and named credentials. */
const PLAIN = {
  limits: null,
  polls: null,
  credentials: [],
  service: { state: "on", by: null, since: null, reason: null },
};
const UNTRIED = {
  state: "ready",
  misconfigured_since: null,
  ...CLOSED,
  connection: CLOSED,
  models: [],
  last_failure_at: null,
};

Deno.test("GET /admin/v1/providers lists every provider in the order of the configuration, unused ones too", async () => {
  const gateway = await startTestGateway();
  const before = Math.floor(Date.now() / 1_000) - 60;
  const { data, since } = await providersOf(gateway);
  assertEquals(data, [
    { name: "sandbox-openai", kind: "openai", ...UNTRIED, succeeded: 0, failed: 0, ...PLAIN },
    { name: "sandbox-anthropic", kind: "anthropic", ...UNTRIED, succeeded: 0, failed: 0, ...PLAIN },
    { name: "sandbox-google", kind: "google", ...UNTRIED, succeeded: 0, failed: 0, ...PLAIN },
  ]);
  assert(since >= before);
  await gateway.stop();
});

Deno.test("GET /admin/v1/providers reports an open circuit, its end, and that a success closed it", async () => {
  const serves = [{ provider: "sandbox-openai", weight: 1 }, { provider: "sandbox-google", weight: 0 }];
  const gateway = await startTestGateway({ config: { models: [{ ...textModel("sandbox/two", []), serves }] } });
  const ask = (text: string, provider?: string) => {
    const headers: Record<string, string> = provider === undefined ? {} : { "x-service-provider-type": provider };
    return sendAs(CHAT, gateway, { model: "sandbox/two", text, headers });
  };
  for (let failures = 0; failures < 5; failures++) await ask("[[openai: fail 503]] hi");
  const [openai, , google] = (await providersOf(gateway)).data;
  const { rests_until, last_failure_at, ...told } = openai;
  assertEquals(told, {
    name: "sandbox-openai",
    kind: "openai",
    state: "ready",
    misconfigured_since: null,
    circuit: "open",
    failures_in_a_row: 5,
    connection: CLOSED,
    models: [{
      model: "two",
      circuit: "open",
      failures_in_a_row: 5,
      open_for: "demo",
      rests_until,
      last_failure_at,
      succeeded: 0,
      failed: 5,
    }],
    succeeded: 0,
    failed: 5,
    ...PLAIN,
  });
  assert(rests_until >= last_failure_at + 9 && rests_until <= last_failure_at + 11);
  assertEquals([google.circuit, google.succeeded, google.failed], ["closed", 5, 0]);

  assertEquals((await ask("hi", "sandbox-openai")).status, 200);
  const [again] = (await providersOf(gateway)).data;
  assertEquals([again.circuit, again.failures_in_a_row, again.rests_until], ["closed", 0, null]);
  assertEquals([again.succeeded, again.failed, again.last_failure_at], [1, 5, last_failure_at]);
  await gateway.stop();
});

Deno.test("GET /admin/v1/providers does not count a refusal of the request, and shows no key", async () => {
  const gateway = await startTestGateway();
  assertEquals((await sendAs(CHAT, gateway, { model: "sandbox/chat-1", text: "[[fail 400 Not that]]" })).status, 400);
  const answer = await providersOf(gateway);
  assertEquals([answer.data[0].succeeded, answer.data[0].failed], [0, 0]);
  assert(!JSON.stringify(answer).includes("sandbox-key"));
  await gateway.stop();
});
