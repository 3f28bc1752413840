import { assert, assertEquals } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { eventsOf } from "../support/event_reader.ts";
import { replyOf } from "../support/assemble.ts";
import { FRAMED_REPLIES, FRAMED_TEXT, FRAMED_TOKENS } from "../support/framed_replies.ts";
import { FRAMINGS } from "../support/framings.ts";
import { CODECS } from "../support/formats.ts";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";
import {
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  type Json,
  MESSAGES,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

/** The vendor's next response: the chunks of a stream, or one whole reply. */
let served: readonly Uint8Array<ArrayBuffer>[] | string = "";
/** The body of the last request to the vendor. */
let received = "";

const vendor = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  received = await request.text();
  if (typeof served === "string") return new Response(served, { headers: { "content-type": "application/json" } });
  const pieces = served;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async start(controller) {
      for (const piece of pieces) {
        controller.enqueue(piece);
        await new Promise((resolve) => setTimeout(resolve)); // so that each chunk is a separate read
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});
const root = `http://127.0.0.1:${vendor.addr.port}`;

const gateway = await startTestGateway({
  config: {
    providers: {
      chat: { kind: "openai", base_url: `${root}/v1`, api_key: "vendor-key-1", speaks: "chat" },
      responses: { kind: "openai", base_url: `${root}/v1`, api_key: "vendor-key-2", speaks: "responses" },
      messages: { kind: "anthropic", base_url: root, api_key: "vendor-key-3" },
      content: { kind: "google", base_url: root, api_key: "vendor-key-4" },
    },
    models: CALLER_PROTOCOLS.map(({ name }) => ({
      ...textModel(`framed/${name}`, []),
      serves: [{ provider: name, model: "vendor-model" }],
    })),
  },
});
const money = accountMoney(gateway);

function replyIn(form: CallerFormatName, sent: string) {
  return replyOf(eventsOf(CODECS[form], new TextEncoder().encode(sent)));
}

function piecesOf(wire: string, size: number): Uint8Array<ArrayBuffer>[] {
  const bytes = new TextEncoder().encode(wire);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.slice(at * size, (at + 1) * size));
}

async function assertHeard(vendorForm: CallerFormatName, face: CallerProtocol, name: string): Promise<void> {
  const answer = await sendAs(face, gateway, { model: `framed/${vendorForm}`, stream: true });
  const reply = replyIn(face.name, answer.text);
  const text = reply.parts.map((part) => part.kind === "text" ? part.text : "").join("");
  assertEquals([answer.status, text, reply.stop.reason], [200, FRAMED_TEXT, "end"], name);
  const charge = await money.latestCharge();
  assertEquals(charge?.request_id, answer.headers.get("x-request-id"), name);
  assertEquals([charge?.usage.fresh_tokens, charge?.usage.output_tokens], [...FRAMED_TOKENS], name);
}

for (const form of CALLER_PROTOCOLS.map(({ name }) => name)) {
  Deno.test(`a ${form} vendor's stream gives every caller the same text, charge and end in every framing`, async () => {
    for (const [nth, [framing, write]] of Object.entries(FRAMINGS).entries()) {
      served = piecesOf(write(FRAMED_REPLIES[form]), [7, 64, 1_000][nth % 3]!);
      const others = CALLER_PROTOCOLS.filter(({ name }) => name !== form);
      const own = CALLER_PROTOCOLS.find(({ name }) => name === form)!;
      for (const face of [own, others[nth % others.length]!]) {
        await assertHeard(form, face, `${framing} to ${face.name}`);
      }
    }
  });
}

const EXPECTED_TEXT = "Here is all that there is to say.";
const HISTORY = [
  { role: "user", content: "Go on" },
  { role: "assistant", content: EXPECTED_TEXT },
  { role: "user", content: "And?" },
];

/** A reply of a vendor that signs its text at the end, as Gemini models do. */
const SIGNED = [
  { candidates: [{ content: { role: "model", parts: [{ text: "hm", thought: true }] } }], responseId: "r" },
  { candidates: [{ content: { role: "model", parts: [{ text: EXPECTED_TEXT }] } }] },
  {
    candidates: [{
      content: { role: "model", parts: [{ text: "", thoughtSignature: "c2lnbmVk" }] },
      finishReason: "STOP",
    }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 9 },
  },
];

Deno.test("the last block of a reply has its text where the vendor signs it at the end, and the signature is sent back", async () => {
  const thinks = { thinking: { type: "enabled", budget_tokens: 1024 } };
  served = SIGNED.map((chunk) => new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\r\n\r\n`));
  const messages = await sendAs(MESSAGES, gateway, { model: "framed/content", stream: true, extra: thinks });
  assertEquals(replyIn("messages", messages.text).parts.map(({ kind }) => kind), ["reasoning", "text"]);
  const responses = await sendAs(RESPONSES, gateway, { model: "framed/content", stream: true });
  assertEquals(replyIn("responses", responses.text).parts.map(({ kind }) => kind), ["reasoning", "text"]);
  const parts = SIGNED.flatMap(({ candidates }) => itemAt(candidates, 0).content.parts);
  const whole = { candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] };
  served = JSON.stringify({ ...whole, usageMetadata: itemAt(SIGNED, 2).usageMetadata });
  const { json } = await sendAs(MESSAGES, gateway, { model: "framed/content", extra: thinks });
  assertEquals(json.content.at(-1).text, EXPECTED_TEXT);
  const asked = await sendAs(RESPONSES, gateway, { model: "framed/content" });
  assertEquals(asked.json.output.at(-1).content[0].text, EXPECTED_TEXT);
  for (const [face, turns] of [[MESSAGES, { messages: HISTORY }], [RESPONSES, { input: HISTORY }]] as const) {
    await sendAs(face, gateway, { model: "framed/content", extra: turns });
    assertEquals(
      JSON.parse(received).contents[1].parts,
      [{ text: EXPECTED_TEXT, thoughtSignature: "c2lnbmVk" }],
      face.name,
    );
  }
});

Deno.test("a content caller gets another vendor's refusal as SAFETY, whole and streamed, with the requested model name", async () => {
  const stop = { stop_reason: "refusal", stop_details: { type: "refusal", explanation: "I must not." } };
  const usage = { input_tokens: 3, output_tokens: 1 };
  served = JSON.stringify({ id: "msg_1", type: "message", role: "assistant", model: "m", content: [], ...stop, usage });
  const { json } = await sendAs(CONTENT, gateway, { model: "framed/messages" });
  assertEquals([json.candidates[0].finishReason, json.modelVersion], ["SAFETY", "framed/messages"]);
  const events = [
    { type: "message_start", message: { id: "msg_1", model: "m", usage } },
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ];
  served = events.map((event) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
  const { text } = await sendAs(CONTENT, gateway, { model: "framed/messages", stream: true });
  const chunks: Json[] = text.split(/\r?\n\r?\n/).filter(Boolean).map((frame) => JSON.parse(frame.slice(6)));
  assertEquals(chunks.at(-1).candidates[0].finishReason, "SAFETY");
  assert(chunks.every(({ modelVersion }) => modelVersion === "framed/messages"));
});

Deno.test("a translated reply has the model name of the request, in every format", async () => {
  const reply = FRAMINGS.LF!(FRAMED_REPLIES.messages);
  for (const face of [CHAT, RESPONSES, CONTENT]) {
    served = [new TextEncoder().encode(reply)];
    const { text } = await sendAs(face, gateway, { model: "framed/messages", stream: true });
    assertEquals(replyIn(face.name, text).model, "framed/messages");
  }
});

Deno.test({
  name: "the gateway and the vendor stop",
  sanitizeResources: false,
  async fn() {
    await gateway.stop();
    await vendor.shutdown();
  },
});
