import { assertEquals, assertStringIncludes } from "@std/assert";
import { PRICING, startTestGateway, textModel } from "../support/gateway.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const seen: Json[] = [];

/** Vendors that refuse reasoning of earlier turns: Anthropic after a changed prefix, OpenAI of another organization. */
const vendor = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
  const body = await request.json();
  seen.push(body);
  if (new URL(request.url).pathname.endsWith("/responses")) return answerInResponses(body);
  const blocks = body.messages.flatMap(({ content }: Json) => Array.isArray(content) ? content : []);
  const isRefused = blocks.some(({ type }: Json) => type === "thinking" || type === "redacted_thinking");
  if (isRefused || body.metadata?.user_id === "always") {
    const message =
      "messages.1.content.0: `thinking` blocks cannot be verified: system, tools or messages have changed";
    return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
  }
  if (body.stream === true) return new Response(STREAM, { headers: { "content-type": "text/event-stream" } });
  return Response.json(MESSAGE);
});

function answerInResponses(body: Json): Response {
  const isReported = [body.user, body.safety_identifier].includes("elsewhere");
  if (!isReported && body.input.some(({ type }: Json) => type === "reasoning")) {
    const error = { message: "The encrypted content could not be verified.", code: "invalid_encrypted_content" };
    return Response.json({ error: { ...error, type: "invalid_request_error", param: null } }, { status: 400 });
  }
  const text = { type: "output_text", text: "ok", annotations: [] };
  const reply = {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status: "completed",
    model: body.model,
    output: [{ id: "msg_1", type: "message", status: "completed", role: "assistant", content: [text] }],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    error: null,
    incomplete_details: null,
    ...body.user === "elsewhere" && { input_transformations: [WITHHELD] },
    ...body.safety_identifier === "elsewhere" && { input_transformations: [WITHHELD] },
  };
  return body.stream === true ? streamed(reply, text) : Response.json(reply);
}

/** The events of a reply. The first one is split, as by a network. */
function streamed(reply: Json, text: Json): Response {
  const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const item = { ...reply.output[0], content: [] };
  const frames = [
    { type: "response.created", response: { ...reply, status: "in_progress", output: [], usage: null } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.content_part.added", ...at, part: { ...text, text: "" } },
    { type: "response.output_text.delta", ...at, delta: "ok" },
    { type: "response.output_text.done", ...at, text: "ok" },
    { type: "response.content_part.done", ...at, part: text },
    { type: "response.output_item.done", output_index: 0, item: reply.output[0] },
    { type: "response.completed", response: reply },
  ].map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`);
  const whole = frames.join("");
  const body = ReadableStream.from([whole.slice(0, 60), whole.slice(60, 200), whole.slice(200)]);
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers: { "content-type": "text/event-stream" } });
}

/** GPT-6.2 reports reasoning that it withholds from the model. */
const WITHHELD = { type: "reasoning", id: "rs_1", action: "removed", reason: "prefix_mismatch" };

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "ok" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
};
const STREAM = [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");

const root = `http://127.0.0.1:${vendor.addr.port}`;
const gateway = await startTestGateway({
  config: {
    providers: {
      anthropic: { kind: "anthropic", base_url: root, api_key: "k" },
      openai: { kind: "openai", base_url: `${root}/v1`, api_key: "k", speaks: "responses", quirks: [] },
    },
    models: ["anthropic/claude-opus-5-5", "openai/gpt-6.2-sol"].map((id) => ({
      ...textModel(id, [id.slice(0, id.indexOf("/"))]),
      pricing: PRICING,
    })),
  },
});

async function post(path: string, body: Json): Promise<{ status: number; text: string; dropped: string }> {
  seen.length = 0;
  const response = await fetch(`${gateway.address}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${gateway.key}`,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify(body),
  });
  const dropped = response.headers.get("x-service-dropped") ?? "";
  return { status: response.status, text: await response.text(), dropped };
}

const THOUGHT = { type: "thinking", thinking: "R", signature: "c2lnbmVk" };
const HISTORY = [
  { role: "user", content: "a" },
  { role: "assistant", content: [THOUGHT, { type: "text", text: "b" }] },
  { role: "assistant", content: [{ type: "redacted_thinking", data: "c2VhbGVk" }] },
  { role: "user", content: "c" },
];
const messages = (fields: Json = {}) =>
  post("/msgcompat/v1/messages", {
    model: "anthropic/claude-opus-5-5",
    max_tokens: 100,
    messages: HISTORY,
    ...fields,
  });

for (const stream of [false, true]) {
  Deno.test(`thinking that Anthropic refuses is left out in one retry, and named${stream ? ", in a stream" : ""}`, async () => {
    const { status, text, dropped } = await messages({ stream });
    assertEquals([status, seen.length], [200, 2], text);
    assertEquals(seen[1].messages, [
      HISTORY[0],
      { role: "assistant", content: [{ type: "text", text: "b" }] },
      HISTORY[3],
    ]);
    assertStringIncludes(dropped, "messages.content.signature");
  });
}

Deno.test("a request that is refused again, or has no thinking, is not sent once more", async () => {
  const again = await messages({ metadata: { user_id: "always" } });
  assertEquals([again.status, seen.length], [400, 2]);
  const without = await messages({ messages: [HISTORY[0]], metadata: { user_id: "always" } });
  assertEquals([without.status, seen.length], [400, 1]);
});

Deno.test("a translated request is sent once more without thinking, too", async () => {
  const reasoning_details = [{ type: "reasoning.text", text: "R", signature: wrapped("messages", "anthropic") }];
  const { status, text, dropped } = await post("/v1/chat/completions", {
    model: "anthropic/claude-opus-5-5",
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: "b", reasoning_details },
      { role: "user", content: "c" },
    ],
  });
  assertEquals([status, seen.length], [200, 2], text);
  assertEquals(seen[0].messages[1].content[0].type, "thinking");
  assertEquals(seen[1].messages[1].content, "b");
  assertEquals(dropped, "messages.reasoning_details");
});

Deno.test("encrypted reasoning that OpenAI refuses is left out in one retry", async () => {
  const { status, text, dropped } = await post("/v1/responses", {
    model: "openai/gpt-6.2-sol",
    input: [
      { type: "message", role: "user", content: "a" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "c2VhbGVk" },
      { type: "message", role: "assistant", content: "b" },
      { type: "message", role: "user", content: "c" },
    ],
  });
  assertEquals([status, seen.length, seen[1].input.length], [200, 2, 3], text);
  assertEquals(dropped, "input.encrypted_content");
});

for (const stream of [false, true]) {
  Deno.test(`reasoning that OpenAI reports as removed is named in the response${stream ? " of a stream" : ""}`, async () => {
    const input = [
      { type: "message", role: "user", content: "a" },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "c2VhbGVk" },
      { type: "message", role: "assistant", content: "b" },
      { type: "message", role: "user", content: "c" },
    ];
    const model = "openai/gpt-6.2-sol";
    const passed = await post("/v1/responses", { model, input, stream, user: "elsewhere" });
    assertEquals([passed.status, seen.length, passed.dropped], [200, 1, "input.encrypted_content"]);
    assertStringIncludes(passed.text, stream ? "event: response.created\ndata: {" : '"ok"');
    assertStringIncludes(passed.text, stream ? '"type":"response.completed"' : '"ok"');
    const silent = await post("/v1/responses", { model, input: [input[0]], stream, user: "elsewhere" });
    assertEquals([silent.status, silent.dropped], [200, ""]);
    const { status, dropped, text } = await post("/v1/chat/completions", {
      model,
      stream,
      user: "elsewhere",
      messages: [
        { role: "user", content: "a" },
        {
          role: "assistant",
          content: "b",
          reasoning_details: [{ type: "reasoning.encrypted", data: wrapped("responses", "openai") }],
        },
        { role: "user", content: "c" },
      ],
    });
    assertEquals([status, dropped], [200, "messages.reasoning_details"]);
    assertStringIncludes(text, '"content":"ok"');
  });
}

/** A signature as the gateway wraps it for callers of another format. */
function wrapped(format: string, provider: string): string {
  return btoa(`sy1.${format}.${provider}.AAAABBBB`).replace(/=+$/, "");
}

Deno.test("the gateway and the vendors stop", async () => {
  await gateway.stop();
  await vendor.shutdown();
});
