import { assert, assertEquals } from "@std/assert";
import { callerOf } from "../support/gateway_call.ts";
import { startTestGateway } from "../support/gateway.ts";
import { stateOf } from "../support/patience.ts";

const MODEL = "sandbox/chat-1";
const messages = (content: string) => [{ role: "user", content }];
const chat = (id: string, content: string) => ({
  custom_id: id,
  body: { model: MODEL, max_tokens: 20, messages: messages(content) },
});
const CHATS = { endpoint: "/v1/chat/completions", completion_window: "24h" };

const folder = await Deno.makeTempDir();
const gateway = await startTestGateway({
  config: { files: `${folder}/files`, limits: { reads: { requests: 100_000, per: 1, burst: 10_000 } } },
});
const { address, key, adminKey } = gateway;
const call = callerOf(address, { authorization: `Bearer ${key}`, "anthropic-version": "2023-06-01" });
const admin = callerOf(address, { authorization: `Bearer ${adminKey}` });

async function fileOf(lines: readonly object[]): Promise<string> {
  const form = new FormData();
  form.set("purpose", "batch");
  const text = lines.map((line) => JSON.stringify({ method: "POST", url: CHATS.endpoint, ...line })).join("\n");
  form.set("file", new File([text], "in.jsonl"));
  const response = await fetch(`${address}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  return (await response.json()).id;
}

async function ended(id: string) {
  const look = async () => (await call("GET", `/v1/key/batches/${id}`)).json;
  return await stateOf("the batch has ended", look, ({ ended_at }) => ended_at !== null);
}

Deno.test("own batches: a key lists, reads and cancels its batches of every protocol", async () => {
  const ofFile = (await call("POST", "/v1/batches", { ...CHATS, input_file_id: await fileOf([chat("a", "Hi")]) })).json;
  const ofRequests = (await call("POST", "/v1/batches", { ...CHATS, requests: [chat("a", "Hi"), chat("b", "Ho")] }))
    .json;
  const ofMessages = (await call("POST", "/msgcompat/v1/messages/batches", {
    requests: [
      { custom_id: "a", params: { model: MODEL, max_tokens: 20, messages: messages("Hi") } },
      { custom_id: "b", params: { model: MODEL, max_tokens: 20, messages: messages("[[fail 400 No]]") } },
    ],
  })).json;
  const ofContent = (await call("POST", `/gencompat/v1beta/models/${MODEL}:batchGenerateContent`, {
    batch: {
      displayName: "stalls",
      inputConfig: {
        requests: { requests: [{ request: { contents: [{ parts: [{ text: "[[stall 600000]]" }] }] } }] },
      },
    },
  })).json;
  const shown = [ofContent.name, ofMessages.id, ofRequests.id, ofFile.id];

  const { json: all } = await call("GET", "/v1/key/batches");
  assertEquals(all.data.map((batch: { caller_id: string }) => batch.caller_id), shown);
  assertEquals(
    all.data.map(({ protocol, input }: { protocol: string; input: string }) => [protocol, input]),
    [["content", "requests"], ["message", "requests"], ["default", "requests"], ["default", "file"]],
  );
  assertEquals(all.data[0].endpoint, "/gencompat/v1beta/models/{model}:generateContent");
  assertEquals([all.next, all.data[0].display_name, all.data[1].display_name], [null, "stalls", null]);

  const pages: string[] = [];
  let after = "";
  for (let page = 0; page < 4; page++) {
    const { json } = await call("GET", `/v1/key/batches?limit=1${after}`);
    pages.push(json.data[0].caller_id);
    assertEquals(json.next === null, page === 3);
    after = `&after=${json.next}`;
  }
  assertEquals(pages, shown);

  for (const { id, caller_id: shownId } of all.data) {
    assertEquals((await call("GET", `/v1/key/batches/${id}`)).json.caller_id, shownId);
  }
  assertEquals((await call("GET", `/v1/key/batches/${ofMessages.id}`)).json.id, all.data[1].id);
  const mixed = await ended(ofMessages.id);
  assertEquals([mixed.status, mixed.lines], ["completed", { total: 2, completed: 1, failed: 1 }]);
  assertEquals(mixed.failures, [{ code: "invalid_request_error", count: 1 }]);
  assert(Number(mixed.cost) > 0 && Number(mixed.estimate) > Number(mixed.cost));
  const results = await call("GET", `/v1/files/${mixed.output_file_id}/content`);
  assertEquals(results.text.trimEnd().split("\n").length, 2);

  const cancelled = await call("POST", `/v1/key/batches/${all.data[0].id}/cancel`);
  assertEquals([cancelled.status, cancelled.json.status], [200, "cancelling"]);
  assertEquals((await call("POST", `/v1/key/batches/${mixed.id}/cancel`)).status, 409);
});

Deno.test("own batches: another key sees none, and a key without the permission is refused", async () => {
  const { json: { id } } = await call("POST", "/v1/batches", { ...CHATS, requests: [chat("a", "Hi")] });
  await ended(id);
  const keyOf = async (limits: object) => {
    const { json } = await admin("POST", "/admin/v1/accounts/demo/keys", limits);
    return callerOf(address, { authorization: `Bearer ${json.secret}` });
  };
  const other = await keyOf({ name: "other" });
  assertEquals((await other("GET", "/v1/key/batches")).json, { data: [], next: null });
  assertEquals((await other("GET", `/v1/key/batches/${id}`)).status, 404);
  assertEquals((await other("POST", `/v1/key/batches/${id}/cancel`)).status, 404);
  const texts = await keyOf({ name: "texts", endpoints: ["chat_completions"] });
  assertEquals((await texts("GET", "/v1/key/batches")).status, 403);
  assertEquals((await call("GET", "/v1/key/batches/nothing")).status, 404);
  assertEquals((await call("GET", "/v1/key/batches?status=failed")).status, 400);
});

Deno.test("own batches: operators see the protocol of a batch and the id that its client has", async () => {
  const { json: data } = await admin("GET", "/admin/v1/batches");
  const facts = data.data.map(({ protocol, caller_id: id }: { protocol: string; caller_id: string }) =>
    `${protocol} ${id.replace(/[0-9a-f]{28}$/, "")}`
  );
  assert(facts.includes("message msgbatch_") && facts.includes("content batches/"), String(facts));
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await Deno.remove(folder, { recursive: true });
  },
});
