import { assert, assertEquals } from "@std/assert";
import {
  chatChunk,
  chatReply,
  type Json,
  messagesReply,
  MODELS,
  responsesReply,
  startScriptedVendors,
} from "./scripted_vendors.ts";

// Calls, texts and their order arrive as the vendor wrote them, and go back to it so.

const vendors = await startScriptedVendors();

/** The calls in a whole reply of the chat format. */
const callsIn = (reply: Json) =>
  (reply.choices[0].message.tool_calls ?? []).map((call: Json) => [call.function.name, call.function.arguments]);

/** The calls in the events of a stream of the messages format. */
const usesIn = (events: readonly Json[]) =>
  events.filter(({ content_block: block }) => block?.type === "tool_use").map(({ index, content_block: block }) => [
    block.name,
    events.filter((event) => event.index === index).map(({ delta }) => delta?.partial_json ?? "").join(""),
  ]);

const FUNCTION = (name: string, args: string, more: Json = {}) => ({ ...more, function: { name, arguments: args } });

Deno.test("two complete calls with one index and no ids are two calls", async () => {
  const events = [
    chatChunk({ role: "assistant", tool_calls: [{ index: 0, ...FUNCTION("f", '{"a":1}') }] }),
    chatChunk({ tool_calls: [{ index: 0, ...FUNCTION("f", '{"a":2}') }] }, "tool_calls"),
    "[DONE]",
  ];
  const got = await vendors.ask("messages", MODELS.chat, { events }, { stream: true });
  assertEquals(usesIn(got.events), [["f", '{"a":1}'], ["f", '{"a":2}']]);
});

Deno.test("a name that is repeated with each piece of the arguments stays one call", async () => {
  const pieces = ['{"a"', ':{"b":1}', ',"c":2', "}"];
  const events = [
    ...pieces.map((piece) => chatChunk({ tool_calls: [{ index: 0, ...FUNCTION("f", piece) }] })),
    chatChunk({ tool_calls: [{ index: 0, ...FUNCTION("f", "") }] }, "tool_calls"),
    "[DONE]",
  ];
  const got = await vendors.ask("messages", MODELS.chat, { events }, { stream: true });
  assertEquals(usesIn(got.events), [["f", '{"a":{"b":1},"c":2}']]);
});

Deno.test("an empty legacy call beside tool_calls loses no call, whole, streamed and in a history", async () => {
  const empty = { function_call: { name: "", arguments: "" } };
  const toolCalls = [{ id: "c1", type: "function", ...FUNCTION("f", '{"a":1}') }];
  const message = { role: "assistant", content: null, tool_calls: toolCalls, ...empty };
  const whole = await vendors.ask("messages", MODELS.chat, chatReply({ message, finish_reason: "tool_calls" }));
  assertEquals(whole.json.content.map(({ type, name }: Json) => [type, name]), [["tool_use", "f"]]);
  assertEquals(whole.dropped, "");
  const events = [chatChunk({ ...empty, tool_calls: [{ index: 0, ...toolCalls[0] }] }, "tool_calls"), "[DONE]"];
  const streamed = await vendors.ask("messages", MODELS.chat, { events }, { stream: true });
  assertEquals(usesIn(streamed.events), [["f", '{"a":1}']]);
  const messages = [{ role: "user", content: "a" }, message, { role: "tool", tool_call_id: "c1", content: "x" }];
  const { sent } = await vendors.ask("chat", MODELS.messages, messagesReply([{ type: "text", text: "ok" }]), {
    messages,
  });
  assertEquals(sent[0]!.json.messages[1].content.map(({ name }: Json) => name), ["f"]);
});

Deno.test("a reply that stops for a call without one is a normal end", async () => {
  const got = await vendors.ask("chat", MODELS.messages, messagesReply([{ type: "text", text: "ok" }], "tool_use"));
  assertEquals(got.json.choices[0].finish_reason, "stop");
  assertEquals(callsIn(got.json), []);
});

Deno.test("tools that a vendor ran in its reply are named", async () => {
  const message = { role: "assistant", content: "ok", executed_tools: [{ index: 0, type: "search", output: "x" }] };
  const got = await vendors.ask("messages", MODELS.chat, chatReply({ message, finish_reason: "stop" }));
  assert(got.dropped.includes("executed_tools"), got.dropped);
});

const PIECES = ["The wea", "ther is ", "fine."];
const WHOLE = PIECES.join("");
const HISTORIES: readonly (readonly [caller: "chat" | "responses" | "messages" | "content", body: Json])[] = [
  ["chat", {
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: PIECES.map((text) => ({ type: "text", text })) },
      { role: "user", content: "b" },
    ],
  }],
  ["responses", {
    input: [
      { role: "user", content: "a" },
      { type: "message", role: "assistant", content: PIECES.map((text) => ({ type: "output_text", text })) },
      { role: "user", content: "b" },
    ],
  }],
  ["messages", {
    messages: [
      { role: "user", content: "a" },
      { role: "assistant", content: PIECES.map((text) => ({ type: "text", text })) },
      { role: "user", content: "b" },
    ],
  }],
  ["content", {
    contents: [
      { role: "user", parts: [{ text: "a" }] },
      { role: "model", parts: PIECES.map((text) => ({ text })) },
      { role: "user", parts: [{ text: "b" }] },
    ],
  }],
];

for (const [caller, body] of HISTORIES) {
  Deno.test(`the pieces of a text of the assistant are one text at every vendor, from ${caller}`, async () => {
    for (const model of [...Object.values(MODELS), "plain/m"]) {
      if (model === MODELS[caller] || (caller === "chat" && model === "plain/m")) continue;
      const { sent } = await vendors.ask(caller, model, "{}", body);
      assert(JSON.stringify(sent[0]!.json).includes(JSON.stringify(WHOLE)), `${model}: ${sent[0]!.text}`);
    }
  });
}

Deno.test("a finished item belongs to the deltas with its text, whatever their index", async () => {
  const part = { type: "output_text", text: WHOLE, annotations: [] };
  const item = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [part] };
  for (const at of [0, 1, 3]) {
    const place = { item_id: "msg_1", output_index: 0, content_index: at };
    const events = [
      { type: "response.created", response: responsesReply([], { status: "in_progress" }) },
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...PIECES.map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: responsesReply([item]) },
    ];
    const got = await vendors.ask("chat", MODELS.responses, { events }, { stream: true });
    assertEquals(got.events.map(({ choices }) => choices?.[0]?.delta?.content ?? "").join(""), WHOLE, `index ${at}`);
  }
});

Deno.test("adaptive thinking is an effort at a model that does not reason by itself", async () => {
  const body = { thinking: { type: "adaptive" } };
  const { sent } = await vendors.ask("messages", "resp/gpt-5.1", JSON.stringify(responsesReply([])), body);
  assertEquals(sent[0]!.json.reasoning.effort, "high");
});

Deno.test("a summary is carried as text, and what came before it is left out", async () => {
  const messages = [
    { role: "user", content: "the first question" },
    { role: "assistant", content: [{ type: "text", text: "an old answer" }] },
    { role: "user", content: "another" },
    {
      role: "assistant",
      content: [{ type: "compaction", content: "They spoke of the weather." }, { type: "text", text: "It is fine." }],
    },
    { role: "user", content: "and now?" },
  ];
  for (const model of Object.values(MODELS)) {
    if (model === MODELS.messages) continue;
    const { sent, dropped } = await vendors.ask("messages", model, "{}", { messages });
    const text = sent[0]!.text;
    assert(!/first question|old answer|another/.test(text), text);
    const places = ["They spoke of the weather.", "It is fine.", "and now?"].map((part) => text.indexOf(part));
    assert(places.every((place) => place > 0) && places.toSorted((a, b) => a - b).join() === places.join(), text);
    assert(dropped === "" || dropped.includes("compaction"), dropped);
  }
});

Deno.test("an error of a tool without words has some at every vendor", async () => {
  const call = { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] };
  const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", is_error: true }] };
  const messages = [{ role: "user", content: "a" }, call, result];
  for (const model of Object.values(MODELS)) {
    if (model === MODELS.messages) continue;
    const { sent } = await vendors.ask("messages", model, "{}", { messages });
    assert(sent[0]!.text.includes("the tool failed"), `${model}: ${sent[0]!.text}`);
  }
});

Deno.test("usage of a messages caller names the place and the tier, null where they are unknown", async () => {
  const reply = chatReply({ message: { role: "assistant", content: "ok" }, finish_reason: "stop" });
  const { json } = await vendors.ask("messages", MODELS.chat, reply);
  assertEquals([json.usage.inference_geo, json.usage.service_tier], [null, null]);
});

Deno.test.afterAll(() => vendors.stop());
