import { assertEquals } from "@std/assert";
import { newApiKey } from "../../src/money/billing/keys/api_key.ts";
import { startTestGateway } from "../support/gateway.ts";
import { callerOf } from "../support/gateway_call.ts";
import { atLeast } from "../support/items.ts";

const [KEY_A, KEY_B] = [newApiKey(), newApiKey()];
const gateway = await startTestGateway({
  config: {
    accounts: [{ id: "anna", balance: "25.00", keys: [KEY_A] }, { id: "ben", balance: "25.00", keys: [KEY_B] }],
  },
});
const [anna, ben] = atLeast(
  [KEY_A, KEY_B].map((key) => {
    const call = callerOf(gateway.address, { authorization: `Bearer ${key}` });
    return (fields: object) => call("POST", "/v1/responses", { model: "sandbox/any-1", input: "hi there", ...fields });
  }),
  2,
);
const at = (type: string) => ({ extra_body: { provider: { type } } });
const user = { role: "user", content: "go on" };

Deno.test("an item of a translated reply is written out for any provider, for its account only", async () => {
  const first = await anna(at("sandbox-anthropic"));
  const { id } = first.json.output.find(({ type }: { type: string }) => type === "message");
  const input = [{ type: "item_reference", id }, user];
  for (const type of ["sandbox-openai", "sandbox-anthropic", "sandbox-google"]) {
    const { status, text } = await anna({ input, ...at(type) });
    assertEquals(status, 200, text);
    assertEquals(JSON.stringify(gateway.sandbox.requests.at(-1)!.body).includes(id), false, "no vendor knows the id");
  }
  const before = gateway.sandbox.requests.length;
  for (let nth = 0; nth < 8; nth++) assertEquals((await ben({ input })).status, 404);
  assertEquals(gateway.sandbox.requests.length, before);
});

Deno.test("an item of a passed reply goes back to the provider that returned it", async () => {
  const first = await anna(at("sandbox-openai"));
  const { id } = first.json.output.find(({ type }: { type: string }) => type === "message");
  const input = [{ type: "item_reference", id }, user];
  for (let nth = 0; nth < 6; nth++) {
    const before = gateway.sandbox.requests.length;
    await anna({ input });
    assertEquals(gateway.sandbox.requests.length, before + 1);
    assertEquals(gateway.sandbox.requests.at(-1)!.path, "/openai/v1/responses");
  }
  assertEquals((await ben({ input })).status, 404);
});

Deno.test("a translated reply's response id refers to nothing, and a model of another format explains what to send", async () => {
  const { json } = await anna(at("sandbox-anthropic"));
  assertEquals((await anna({ previous_response_id: json.id })).status, 404);
  const elsewhere = await anna({ model: "sandbox/messages-1", previous_response_id: json.id });
  assertEquals([elsewhere.status, elsewhere.json.error.param], [400, "previous_response_id"]);
});

Deno.test("hosted tools without a price are dropped for a model of another format, and rejected for one of its own", async () => {
  const tools = [{ type: "file_search", vector_store_ids: [] }];
  const dropped = await anna({ model: "sandbox/messages-1", tools });
  assertEquals([dropped.status, dropped.headers.get("x-service-dropped")], [200, "tools.file_search"]);
  assertEquals((await anna({ model: "sandbox/chat-1", tools })).status, 400);
});

Deno.test("a search without a price is rejected when nothing else is offered, and otherwise dropped", async () => {
  const tools = [{ type: "web_search" }];
  const refused = await anna({ model: "sandbox/messages-1", tools });
  assertEquals([refused.status, refused.json.error.param], [400, "tools[0]"]);
  const beside = [...tools, { type: "function", name: "look", parameters: { type: "object" } }];
  const dropped = await anna({ model: "sandbox/messages-1", tools: beside });
  assertEquals([dropped.status, dropped.headers.get("x-service-dropped")], [200, "tools.web_search"]);
});

Deno.test.afterAll(() => gateway.stop());
