import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type CallerFormat,
  CALLERS,
  chatChunk,
  chatReply,
  contentReply,
  type Json,
  messagesReply,
  MODELS,
  responsesReply,
  type Script,
  startScriptedVendors,
  type VendorFormat,
} from "./scripted_vendors.ts";

// Values of tools arrive to the digit: arguments, results, schemas and metadata, in every pair of formats.

const DIGITS = '{"id":2512292042121000001,"price":1.0,"long":0.12345678901234567890,"big":1e400,"deep":[{"n":-0.50}]}';
const vendors = await startScriptedVendors();
Deno.test.afterAll(() => vendors.stop());

const FORMATS = Object.keys(MODELS) as VendorFormat[];

/** A question, a call with arguments and its result, in a caller's format, as JSON text. */
function historyOf(caller: CallerFormat, model: string, args: string): string {
  const quoted = JSON.stringify(args);
  const schema = '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807,"minimum":1.0}}}';
  switch (caller) {
    case "chat":
      return `{"model":"${model}","tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}],"messages":[` +
        `{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",` +
        `"function":{"name":"f","arguments":${quoted}}}]},{"role":"tool","tool_call_id":"c1","content":"x"}]}`;
    case "responses":
      return `{"model":"${model}","tools":[{"type":"function","name":"f","parameters":${schema}}],"input":[` +
        `{"role":"user","content":"a"},{"type":"function_call","call_id":"c1","name":"f","arguments":${quoted}},` +
        `{"type":"function_call_output","call_id":"c1","output":"x"}]}`;
    case "messages":
      return `{"model":"${model}","max_tokens":1000,"tools":[{"name":"f","input_schema":${schema}}],"messages":[` +
        `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":${args}}]},` +
        `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}]}`;
    case "content":
      return `{"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${schema}}]}],"contents":[` +
        `{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"f","args":${args}}}]},` +
        `{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"f","response":{"output":"x"}}}]}]}`;
  }
}

/** A call with arguments in a vendor's format: a whole reply, and a stream. */
function callOf(format: VendorFormat, args: string, isStream: boolean): Script {
  const quoted = JSON.stringify(args);
  const put = (value: Json) =>
    (typeof value === "string" ? value : JSON.stringify(value)).replaceAll('"ARGS"', args)
      .replaceAll('"QUOTED"', quoted);
  const call = { id: "c1", type: "function", function: { name: "f", arguments: "QUOTED" } };
  switch (format) {
    case "chat": {
      const message = { role: "assistant", content: null, tool_calls: [call] };
      if (!isStream) return put(chatReply({ message, finish_reason: "tool_calls" }));
      const chunk = put(chatChunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] }, "tool_calls"));
      return { events: [chunk, "[DONE]"] };
    }
    case "responses": {
      const item = {
        type: "function_call",
        id: "fc_1",
        call_id: "c1",
        name: "f",
        arguments: "QUOTED",
        status: "completed",
      };
      const reply = responsesReply([item]);
      if (!isStream) return put(reply);
      const events = [
        { type: "response.created", response: responsesReply([], { status: "in_progress" }) },
        { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: reply },
      ];
      return { events: events.map(put) };
    }
    case "messages": {
      const block = { type: "tool_use", id: "c1", name: "f", input: "ARGS" };
      if (!isStream) return put(messagesReply([block], "tool_use"));
      const message = {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1 },
      };
      const events = [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: block },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ];
      return { events: events.map(put) };
    }
    case "content": {
      const reply = put(contentReply([{ functionCall: { id: "c1", name: "f", args: "ARGS" } }], "STOP"));
      return isStream ? { events: [reply] } : reply;
    }
    case "converse": {
      const content = [{ toolUse: { toolUseId: "c1", name: "f", input: "ARGS" } }];
      const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
      return put({ output: { message: { role: "assistant", content } }, stopReason: "tool_use", usage, metrics: {} });
    }
  }
}

/** The arguments of the only call that a caller received, as JSON text; in a stream, its pieces joined. */
function argumentsIn(caller: CallerFormat, text: string, events: readonly Json[]): string {
  switch (caller) {
    case "chat":
    case "responses": {
      if (events.length === 0) return JSON.parse(/"arguments":("(?:[^"\\]|\\.)*")/.exec(text)?.[1] ?? '""');
      const pieces = events.map((event) =>
        event.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments ??
          (event.type === "response.function_call_arguments.delta" ? event.delta : "")
      );
      return pieces.join("");
    }
    case "messages":
      if (events.length > 0) return events.map(({ delta }) => delta?.partial_json ?? "").join("");
      return /"input":(\{.*?\})\}\]/.exec(text)?.[1] ?? "";
    case "content":
      return /"args":(\{.*?\})\}\}/.exec(text)?.[1] ?? "";
  }
}

for (const caller of CALLERS) {
  for (const vendor of FORMATS) {
    if (caller === vendor) continue;
    const model = MODELS[vendor];

    Deno.test(`arguments and schemas of a history are sent to the digit, from ${caller} to ${vendor}`, async () => {
      const { sent } = await vendors.ask(caller, model, callOf(vendor, "{}", false), historyOf(caller, model, DIGITS));
      const text = sent[0]!.text;
      assert(text.includes(DIGITS) || text.includes(JSON.stringify(DIGITS).slice(1, -1)), text);
      assertStringIncludes(text, "9223372036854775807");
    });

    Deno.test(`arguments of a call arrive to the digit, from ${vendor} to ${caller}`, async () => {
      const got = await vendors.ask(caller, model, callOf(vendor, DIGITS, false));
      assertEquals(argumentsIn(caller, got.text, got.events), DIGITS);
      if (vendor === "converse") return;
      const streamed = await vendors.ask(caller, model, callOf(vendor, DIGITS, true), { stream: true });
      assertEquals(argumentsIn(caller, streamed.text, streamed.events), DIGITS);
    });
  }
}

/** Arguments that are no object as vendors write them, and what a caller reads. */
const ODD_ARGUMENTS: readonly (readonly [written: string, read: string])[] = [
  ["", "{}"],
  [" ", "{}"],
  ["null", "{}"],
  [JSON.stringify('{"a":1.0}'), '{"a":1.0}'],
  ['{"a":"two\nlines"}', '{"a":"two\\nlines"}'],
];

for (const caller of CALLERS) {
  for (const vendor of ["chat", "responses"] as const) {
    if (caller === vendor) continue;
    Deno.test(`arguments in any spelling are read, from ${vendor} to ${caller}`, async () => {
      for (const [written, read] of ODD_ARGUMENTS) {
        for (const isStream of [false, true]) {
          const script = callOf(vendor, written, isStream);
          const got = await vendors.ask(caller, MODELS[vendor], script, { stream: isStream });
          const said = argumentsIn(caller, got.text, got.events);
          assertEquals(isStream && said === "" ? "{}" : said, read, JSON.stringify({ written, isStream }));
        }
      }
    });

    Deno.test(`arguments that are no JSON arrive as text, from ${vendor} to ${caller}`, async () => {
      for (const isStream of [false, true]) {
        const words = "run(the, tool)";
        const got = await vendors.ask(caller, MODELS[vendor], callOf(vendor, words, isStream), { stream: isStream });
        const wrapped = caller === "messages" || caller === "content";
        assertEquals(argumentsIn(caller, got.text, got.events), wrapped ? JSON.stringify({ _raw: words }) : words);
      }
    });
  }
}

for (const vendor of ["messages", "content", "converse"] as const) {
  for (const caller of CALLERS) {
    if (caller === vendor) continue;
    Deno.test(`arguments of 10,000 levels arrive as text, from ${vendor} to ${caller}`, async () => {
      const deep = `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
      const got = await vendors.ask(caller, MODELS[vendor], callOf(vendor, deep, false));
      assertEquals(got.status, 200, got.text.slice(0, 300));
      assertStringIncludes(got.text, JSON.stringify(deep).slice(1, -1));
    });
  }
}
