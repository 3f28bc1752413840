import { assert, assertEquals } from "@std/assert";
import { CHAT, type Json, MESSAGES, sendAs } from "./caller_protocols.ts";
import { startFamilyGateway } from "./family_gateway.ts";

/** Chat requests that pass to vendors which refuse the fields that they do not know. */

const { vendors, gateway } = await startFamilyGateway();

const MISTRAL = "sandbox/mistral-large-4";
const COHERE = "sandbox/command-a-03-2025";
const VENDORS = [MISTRAL, COHERE];

async function chat(model: string, extra: Json): Promise<{ sent: Json; dropped: string | null; text: string }> {
  const { status, text, headers } = await sendAs(CHAT, gateway, { model, extra });
  assertEquals(status, 200, text);
  return { sent: vendors.requests.at(-1)?.body, dropped: headers.get("x-service-dropped"), text };
}

const LONG_ID = `call_${"x".repeat(60)}`;
const call = (id: string, more: Json = {}): Json => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
});
const TOOLS = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const QUESTION = { role: "user", content: "hi" };

for (const model of VENDORS) {
  Deno.test(`${model} gets the refusal of a reply as text, and no fields of other vendors`, async () => {
    const reply = {
      role: "assistant",
      content: null,
      refusal: "No.",
      annotations: [],
      audio: null,
      function_call: null,
      reasoning_content: "because",
    };
    const { sent, dropped } = await chat(model, { messages: [QUESTION, reply, QUESTION] });
    assertEquals(sent.messages[1], { role: "assistant", content: "No." });
    assertEquals(dropped, "messages.reasoning_content");
  });

  Deno.test(`${model} gets no turn without content`, async () => {
    const { sent } = await chat(model, {
      messages: [QUESTION, { role: "assistant", content: "", refusal: null }, QUESTION],
    });
    assertEquals(sent.messages, [QUESTION, QUESTION]);
  });

  Deno.test(`${model} gets the effort of OpenRouter's object, and no other objects of it`, async () => {
    const { sent, dropped } = await chat(model, { reasoning: { effort: "high" }, usage: { include: true } });
    assertEquals([sent.reasoning, sent.usage, sent.reasoning_effort, dropped], [undefined, undefined, "high", null]);
  });

  Deno.test(`${model} gets its own names of fields, and none that it does not know`, async () => {
    const { sent, dropped } = await chat(model, {
      max_completion_tokens: 50,
      seed: 7,
      logit_bias: { 5: 1 },
      n: 1,
      store: false,
      verbosity: "low",
    });
    const seed = model === MISTRAL ? [undefined, 7] : [7, undefined];
    assertEquals([sent.max_completion_tokens, sent.max_tokens, sent.seed, sent.random_seed], [undefined, 50, ...seed]);
    assertEquals(dropped, "logit_bias, verbosity");
  });

  Deno.test(`${model} gets calls without fields that clients add`, async () => {
    const calls = [call("abcdefghi", { index: 0, extra_content: { google: { thought_signature: "s" } } })];
    const messages = [
      QUESTION,
      { role: "assistant", content: "", tool_calls: calls },
      { role: "tool", tool_call_id: "abcdefghi", content: "x" },
    ];
    const { sent, dropped } = await chat(model, { tools: TOOLS, messages });
    assertEquals(
      sent.messages[1].tool_calls[0],
      model === MISTRAL ? call("abcdefghi", { index: 0 }) : call("abcdefghi"),
    );
    assertEquals(dropped, "messages.tool_calls.extra_content");
  });

  Deno.test(`${model} gets a request that it takes byte for byte, whole and streamed`, async () => {
    for (const stream of [false, true]) {
      const messages = [QUESTION, { content: "a  b", role: "assistant" }, QUESTION];
      const { sent, dropped } = await chat(model, { temperature: 0.25, messages, stream });
      assertEquals([sent.messages, sent.temperature, dropped], [messages, 0.25, null]);
    }
  });

  Deno.test(`${model} gets translated requests without what it does not know`, async () => {
    const { status, text } = await sendAs(MESSAGES, gateway, {
      model,
      extra: {
        tools: [{ name: "f", input_schema: { type: "object", properties: {} } }],
        tool_choice: { type: "auto", disable_parallel_tool_use: true },
        thinking: { type: "enabled", budget_tokens: 1_024 },
      },
    });
    assertEquals(status, 200, text);
    const { sent } = await chat(model, { stop: ["x"], parallel_tool_calls: false, tools: TOOLS });
    assertEquals(sent.parallel_tool_calls, model === MISTRAL ? false : undefined);
  });
}

Deno.test("a limit above the model's is lowered under the vendor's name of it", async () => {
  for (const [model, name] of [[MISTRAL, "max_tokens"], ["sandbox/gpt-5.4", "max_completion_tokens"]] as const) {
    for (const field of ["max_tokens", "max_completion_tokens"]) {
      const { sent, dropped } = await chat(model, { [field]: 100_000 });
      assertEquals([sent.max_tokens ?? sent.max_completion_tokens, Object.hasOwn(sent, name)], [64_000, true]);
      assertEquals(dropped, field);
    }
  }
});

Deno.test("Cohere gets none or high for other efforts, which are named", async () => {
  for (const [requested, sent] of [["low", "high"], ["minimal", "high"], ["none", "none"], ["high", "high"]]) {
    const got = await chat(COHERE, { reasoning_effort: requested });
    assertEquals([got.sent.reasoning_effort, got.dropped], [sent, requested === sent ? null : "reasoning_effort"]);
  }
});

Deno.test("Mistral gets the developer's messages as those of the system", async () => {
  const { sent } = await chat(MISTRAL, { messages: [{ role: "developer", content: "Be short." }, QUESTION] });
  assertEquals(sent.messages[0], { role: "system", content: "Be short." });
});

Deno.test("Mistral gets ids of nine characters, the same for a call and its result", async () => {
  const messages = [
    QUESTION,
    { role: "assistant", content: null, tool_calls: [call(LONG_ID), call("call_2")] },
    { role: "tool", tool_call_id: LONG_ID, content: "x" },
    { role: "tool", tool_call_id: "call_2", content: "y" },
  ];
  const { sent } = await chat(MISTRAL, { tools: TOOLS, messages });
  const ids = sent.messages[1].tool_calls.map(({ id }: Json) => id);
  assert(ids.every((id: string) => /^[a-zA-Z0-9]{9}$/.test(id)));
  assertEquals(ids, [sent.messages[2].tool_call_id, sent.messages[3].tool_call_id]);
});

Deno.test("OpenAI gets ids of at most 40 characters, and short ones as they are", async () => {
  const messages = [
    QUESTION,
    { role: "assistant", content: null, refusal: null, tool_calls: [call(LONG_ID), call("call_2")] },
    { role: "tool", tool_call_id: LONG_ID, content: "x" },
    { role: "tool", tool_call_id: "call_2", content: "y" },
  ];
  const { sent } = await chat("sandbox/gpt-4.1", { tools: TOOLS, messages });
  const [long, short] = sent.messages[1].tool_calls.map(({ id }: Json) => id);
  assertEquals([long.length, short, sent.messages[2].tool_call_id], [40, "call_2", long]);
});

Deno.test("OpenAI gets no reasoning that other vendors returned, in messages and in calls", async () => {
  const reply = { role: "assistant", content: "b", reasoning_content: "because", extra_content: { google: {} } };
  const messages = [
    QUESTION,
    reply,
    QUESTION,
    {
      role: "assistant",
      content: null,
      tool_calls: [call("c1", { extra_content: { google: { thought_signature: "s" } } })],
    },
    { role: "tool", tool_call_id: "c1", content: "x" },
  ];
  const { sent, dropped } = await chat("sandbox/gpt-4.1", { tools: TOOLS, messages });
  assertEquals(sent.messages[1], { role: "assistant", content: "b" });
  assertEquals(sent.messages[3].tool_calls, [call("c1")]);
  assertEquals(dropped, "messages.reasoning_content, messages.tool_calls.extra_content, messages.extra_content");
});

const sentLast = (): Json => vendors.requests.at(-1)?.body;

/** A tool loop whose first message has these blocks. */
function loopOf(...first: readonly Json[]): Json[] {
  const result = (id: string) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "x" }] });
  const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
  return [
    QUESTION,
    { role: "assistant", content: [...first, use("t1")] },
    result("t1"),
    { role: "assistant", content: [{ type: "text", text: "next" }, use("t2")] },
    result("t2"),
  ];
}

Deno.test("a budget of thinking ends in a loop that began without it, and is named", async () => {
  const budget = { type: "enabled", budget_tokens: 2_000 };
  const tools = [{ name: "f", input_schema: { type: "object" } }];
  const model = "sandbox/claude-haiku-4-5";
  const extra = { max_tokens: 4_000, tools, thinking: budget };
  for (const first of [[], [{ type: "text", text: "a" }]]) {
    const { status, text, headers } = await sendAs(MESSAGES, gateway, {
      model,
      extra: { ...extra, messages: loopOf(...first) },
    });
    assertEquals([status, sentLast().thinking], [200, { type: "disabled" }], text);
    assertEquals(headers.get("x-service-dropped"), "thinking");
  }
  const reply = await sendAs(MESSAGES, gateway, { model, text: "[[think Hm]] [[tool f]]", extra });
  const [thinking] = reply.json.content;
  const kept = await sendAs(MESSAGES, gateway, { model, extra: { ...extra, messages: loopOf(thinking) } });
  assertEquals([kept.status, sentLast().thinking], [200, budget], kept.text);
  const lost = await sendAs(MESSAGES, gateway, {
    model: "sandbox/claude-haiku-4-5",
    extra: { ...extra, messages: loopOf({ ...thinking, signature: thinking.signature.replace(/.{4}$/, "") }) },
  });
  assert(lost.status === 200 || lost.status === 400, "a signature that nobody made is the vendor's to judge");
});

Deno.test("the gateway of these tests stops", async () => {
  await gateway.stop();
  await vendors.stop();
});
