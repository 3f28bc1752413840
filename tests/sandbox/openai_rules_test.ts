import { assertEquals } from "@std/assert";
import { issueSignature } from "../../src/sandbox/signatures.ts";
import { refuses, takes } from "./rules_support.ts";
import { inSandbox, PIXEL, post } from "./support.ts";

const user = { role: "user", content: "Hi" };
const calling = (id: string) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
});
const answered = (id: string, content: unknown = "Yes") => ({ role: "tool", tool_call_id: id, content });
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } };
const functionTool = (definition: object) => ({
  tools: [{ type: "function", function: { name: "f", ...definition } }],
});
const open = { type: "object", properties: { a: { type: "string" } } };

refuses("chat", [
  ["an unknown field", { extra_body: {} }, "Unrecognized request argument supplied: extra_body"],
  ["no messages", { messages: [] }, "Invalid 'messages': empty array"],
  ["an unknown role", { messages: [{ role: "model", content: "Hi" }] }, "Invalid value: 'model'"],
  ["a call id of 41 signs", { messages: [user, calling("x".repeat(41)), answered("x")] }, "maximum length 40"],
  ["a call without its result", { messages: [user, calling("a"), user] }, "did not have response messages: a"],
  ["a call at the end", { messages: [user, calling("a")] }, "did not have response messages: a"],
  ["a result without its call", { messages: [user, answered("a")] }, "must be a response to a preceeding message"],
  ["a picture in a tool's message", { messages: [user, calling("a"), answered("a", [picture])] }, "role 'tool'"],
  ["an assistant that says nothing", { messages: [user, { role: "assistant" }] }, "expected a string, got null"],
  ["both limits of tokens", { max_tokens: 5, max_completion_tokens: 5 }, "at the same time is not supported"],
  ["five stop sequences", { stop: ["a", "b", "c", "d", "e"] }, "maximum length 4"],
  ["a temperature beyond 2", { temperature: 2.5 }, "Expected a value <= 2"],
  ["stream options without a stream", { stream_options: { include_usage: true } }, "only allowed when 'stream'"],
  ["a choice without tools", { tool_choice: "auto" }, "only allowed when 'tools' are specified"],
  ["a tool's name with a space", functionTool({ name: "my tool" }), "does not match pattern"],
  ["parameters that are no object", functionTool({ parameters: { type: "string" } }), "got 'type: \"string\"'"],
  ["an open schema that is called strict", functionTool({ parameters: open, strict: true }), "'additionalProperties'"],
  ["json without the word", { response_format: { type: "json_object" } }, "must contain the word 'json'"],
  ["the older limit for a reasoning model", { model: "o3", max_tokens: 5 }, "Use 'max_completion_tokens' instead"],
  ["a temperature for a reasoning model", { model: "gpt-5", temperature: 0 }, "does not support 0 with this model"],
]);

takes("chat", [
  ["a call with its result", { messages: [user, calling("a"), answered("a")] }],
  ["a picture from the user", { messages: [{ role: "user", content: [picture] }] }],
  ["thoughts in the dialect of a reasoner", { model: "reasoner", thinking: { type: "enabled" } }],
]);

const item = { type: "message", role: "user", content: "Hi" };
const callItem = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
const output = { type: "function_call_output", call_id: "a", output: "Yes" };
const proof = issueSignature("responses", "x").value;
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: proof };

refuses("responses", [
  ["an unknown field", { extra_body: {} }, "Unknown parameter: 'extra_body'."],
  ["a field of chat", { stop: ["a"] }, "Unknown parameter: 'stop'."],
  ["no input", { input: null }, "Missing required parameter: 'input'."],
  ["fewer than 16 tokens", { max_output_tokens: 15 }, "Expected a value >= 16"],
  ["a call without its output", { input: [item, callItem] }, "No tool output found for function call a."],
  [
    "an output without its call",
    { input: [item, output] },
    "No tool call found for function call output with call_id a.",
  ],
  ["an id of another kind of item", { input: [item, { ...callItem, id: "call_1" }, output] }, "begins with 'fc'"],
  ["a call id of 65 signs", { input: [item, { ...callItem, call_id: "x".repeat(65) }] }, "maximum length 64"],
  ["the user's kind of part from the assistant", {
    input: [item, { role: "assistant", content: [{ type: "input_text", text: "Hi" }] }],
  }, "Supported values are: 'output_text', 'refusal'"],
  ["reasoning without its item", { input: [item, reasoning] }, "without its required following item"],
  [
    "reasoning of another issuer",
    { input: [item, { ...reasoning, encrypted_content: "gAAAxyz" }, callItem, output] },
    "could not be verified",
  ],
  ["a response to go on from", { previous_response_id: "resp_1" }, "Previous response with id 'resp_1' not found."],
  ["the nested shape of tools", functionTool({}), "Missing required parameter: 'tools[0].name'"],
  [
    "json without the word in the input",
    { text: { format: { type: "json_object" } }, instructions: "json" },
    "must contain the word 'json'",
  ],
  ["a format without a name", { text: { format: { type: "json_schema", schema: open } } }, "'text.format.name'"],
  ["an unknown word to include", { include: ["everything"] }, "Invalid value: 'everything'"],
]);

takes("responses", [
  ["a call with its output", { input: [item, callItem, output] }],
  ["reasoning with the call that it led to", { input: [item, reasoning, callItem, output] }],
]);

Deno.test("sandbox responses rejects references to items that are not sent", () =>
  inSandbox(async ({ sandbox }) => {
    const { encrypted_content: _, ...bare } = reasoning;
    for (const unknown of [bare, { type: "item_reference", id: "rs_1" }]) {
      const response = await post(sandbox, "responses", { model: "m", input: [item, unknown, callItem, output] });
      assertEquals(response.status, 404);
      await response.body?.cancel();
    }
  }));
