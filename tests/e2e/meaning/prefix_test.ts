import { assertEquals } from "@std/assert";
import {
  type CallerFormat,
  CALLERS,
  chatChunk,
  contentReply,
  type Got,
  type Json,
  MODELS,
  responsesReply,
  startScriptedVendors,
} from "./scripted_vendors.ts";

// What a vendor wrote comes back to it unchanged at the next turn, so that its cache finds the prefix.

const vendors = await startScriptedVendors();
Deno.test.afterAll(() => vendors.stop());

const PIECES = ["Let me ", "look that ", "up for ", "you, one moment."];
const TEXT = PIECES.join("");
const THOUGHTS = ["First ", "the weather."];
const ARGS = '{"city":"Bern","days":3}';
const SIGNATURE = "c2lnbmF0dXJl";

/** A turn of each vendor with reasoning, text in pieces and a call, as a stream; and what it must get back. */
const TURNS: Readonly<
  Record<string, { readonly events: readonly Json[]; own(sent: Json): unknown; readonly wrote: Json }>
> = {
  messages: {
    events: [
      {
        type: "message_start",
        message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
      ...THOUGHTS.map((thinking) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "thinking_delta", thinking },
      })),
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: SIGNATURE } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
      ...PIECES.map((text) => ({ type: "content_block_delta", index: 1, delta: { type: "text_delta", text } })),
      { type: "content_block_stop", index: 1 },
      {
        type: "content_block_start",
        index: 2,
        content_block: { type: "tool_use", id: "toolu_1", name: "f", input: {} },
      },
      { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: ARGS } },
      { type: "content_block_stop", index: 2 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ],
    own: (sent) => sent.messages[1],
    wrote: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: THOUGHTS.join(""), signature: SIGNATURE },
        { type: "text", text: TEXT },
        { type: "tool_use", id: "toolu_1", name: "f", input: JSON.parse(ARGS) },
      ],
    },
  },
  responses: {
    events: responsesEvents([
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: SIGNATURE },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: TEXT, annotations: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "call_1", name: "f", arguments: ARGS, status: "completed" },
    ]),
    own: (sent) =>
      sent.input.filter(({ role, type }: Json) => role !== "user" && type !== "function_call_output").map((
        item: Json,
      ) => [
        item.type,
        item.encrypted_content ?? item.arguments ?? item.content?.map(({ text }: Json) => text),
      ]),
    wrote: [["reasoning", SIGNATURE], ["message", [TEXT]], ["function_call", ARGS]],
  },
  content: {
    events: [
      ...PIECES.map((text) => contentReply([{ text }], null)),
      contentReply(
        [{ functionCall: { id: "call_1", name: "f", args: JSON.parse(ARGS) }, thoughtSignature: SIGNATURE }],
        "STOP",
      ),
    ],
    own: (sent) => sent.contents[1],
    wrote: {
      role: "model",
      parts: [{ text: TEXT }, {
        functionCall: { id: "call_1", name: "f", args: JSON.parse(ARGS) },
        thoughtSignature: SIGNATURE,
      }],
    },
  },
  chat: {
    events: [
      ...PIECES.map((content) => chatChunk({ role: "assistant", content })),
      chatChunk({
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: ARGS } }],
      }, "tool_calls"),
      "[DONE]",
    ],
    own: (sent) => sent.messages[1],
    wrote: {
      role: "assistant",
      content: TEXT,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: ARGS } }],
    },
  },
};

function responsesEvents(items: readonly Json[]): Json[] {
  return [
    { type: "response.created", response: responsesReply([], { status: "in_progress" }) },
    ...items.flatMap((item, output_index) => [
      {
        type: "response.output_item.added",
        output_index,
        item: { ...item, content: [], encrypted_content: undefined },
      },
      ...(item.type === "message"
        ? PIECES.map((delta) => ({ type: "response.output_text.delta", output_index, content_index: 0, delta }))
        : []),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: responsesReply(items) },
  ];
}

const TOOL = { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } };

/** The request after a reply, as a client of the format keeps a stream: every chunk, or the chunks put together. */
function nextTurn(caller: CallerFormat, { events }: Got): Json {
  switch (caller) {
    case "chat": {
      const deltas = events.map(({ choices }) => choices?.[0]?.delta ?? {});
      const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
      const message = {
        role: "assistant",
        content: deltas.map(({ content }) => content ?? "").join(""),
        reasoning_details: deltas.flatMap((delta) => delta.reasoning_details ?? []),
        tool_calls: [{
          id: calls[0].id,
          type: "function",
          function: { name: "f", arguments: calls.map((call) => call.function?.arguments ?? "").join("") },
        }],
      };
      return {
        messages: [{ role: "user", content: "hi" }, message, { role: "tool", tool_call_id: calls[0].id, content: "x" }],
      };
    }
    case "responses": {
      const { output } = events.at(-1).response;
      const { call_id } = output.find(({ type }: Json) => type === "function_call");
      return {
        input: [{ role: "user", content: "hi" }, ...output, { type: "function_call_output", call_id, output: "x" }],
      };
    }
    case "messages": {
      const blocks = events.filter(({ type }) => type === "content_block_start").map(
        ({ index, content_block: block }) => {
          const of = (name: string) =>
            events.filter((each) => each.index === index).map(({ delta }) => delta?.[name] ?? "").join("");
          if (block.type === "text") return { type: "text", text: of("text") };
          if (block.type === "tool_use") return { ...block, input: JSON.parse(of("partial_json")) };
          return block.type === "thinking" ? { ...block, thinking: of("thinking"), signature: of("signature") } : block;
        },
      );
      const { id } = blocks.find(({ type }) => type === "tool_use");
      const result = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "x" }] };
      return { messages: [{ role: "user", content: "hi" }, { role: "assistant", content: blocks }, result] };
    }
    case "content": {
      const parts = events.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      const { id } = parts.find(({ functionCall }) => functionCall).functionCall;
      const response = { functionResponse: { id, name: "f", response: { output: "x" } } };
      return {
        contents: [{ role: "user", parts: [{ text: "hi" }] }, { role: "model", parts }, {
          role: "user",
          parts: [response],
        }],
      };
    }
  }
}

/** What a request must set so that reasoning is returned. */
const SETTINGS: Readonly<Record<CallerFormat, Json>> = {
  chat: { reasoning_effort: "medium", tools: [{ type: "function", function: { name: "f", parameters: TOOL } }] },
  responses: {
    reasoning: { effort: "medium" },
    tools: [{ type: "function", name: "f", parameters: TOOL }],
    store: false,
  },
  messages: {
    thinking: { type: "enabled", budget_tokens: 2000 },
    tools: [{ name: "f", input_schema: TOOL }],
  },
  content: {
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: TOOL }] }],
  },
};

for (const caller of CALLERS) {
  for (const vendor of ["messages", "responses", "content", "chat"] as const) {
    if (caller === vendor) continue;
    Deno.test(`what ${vendor} wrote comes back to it unchanged from a ${caller} client`, async () => {
      const { events, own, wrote } = TURNS[vendor]!;
      const first = await vendors.ask(caller, MODELS[vendor], { events }, { ...SETTINGS[caller], stream: true });
      const next = { ...SETTINGS[caller], ...nextTurn(caller, first), stream: true };
      const { sent } = await vendors.ask(caller, MODELS[vendor], { events }, next);
      assertEquals(own(sent[0]!.json), wrote);
    });
  }
}
