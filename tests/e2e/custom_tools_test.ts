import { assert, assertEquals } from "@std/assert";
import OpenAI from "openai";
import { wireToolName as contentName } from "../../src/conversation/codecs/content/shared/calls.ts";
import { wireToolName as messagesName } from "../../src/conversation/codecs/messages/upstream/write_tools.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { valueAt } from "../support/items.ts";
import type { Json } from "./caller_protocols.ts";
import { startFamilyGateway } from "./family_gateway.ts";

const gateway = await startTestGateway();
const families = await startFamilyGateway();
const openAi = ({ address, key }: TestGateway) => new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
const client = () => openAi(gateway);

const GRAMMAR = 'start: "begin" LINE+';
const EXEC = { type: "custom", name: "exec", description: "Runs a script" };
const PATCH = { ...EXEC, name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: GRAMMAR } };
const INPUT = 'ls -la "My Files"\n';
/** A prompt that makes the sandbox call a function with these arguments. */
const orderOf = (name: string) => `[[tool ${name} ${JSON.stringify({ input: INPUT })}]] List the files`;

const NAMES: Readonly<Record<string, (tool: string) => string>> = {
  "sandbox/messages-1": messagesName,
  "sandbox/content-1": contentName,
};

const OFFERS: Readonly<Record<string, Json>> = {
  "in tools": { tools: [EXEC, PATCH] },
  "in the input": { input: [{ type: "additional_tools", role: "developer", tools: [EXEC, PATCH] }] },
  "in a namespace": { tools: [{ type: "namespace", name: "functions", tools: [EXEC, PATCH] }] },
};

for (const model of ["sandbox/messages-1", "sandbox/content-1"]) {
  for (const [place, { tools, input = [] }] of Object.entries(OFFERS)) {
    for (const stream of [false, true]) {
      Deno.test({
        name: `custom tools ${place} work on ${model}, ${stream ? "streamed" : "whole"}`,
        sanitizeResources: false,
        sanitizeOps: false,
        async fn() {
          const name = place === "in a namespace" ? valueAt(NAMES, model)("functions/exec") : "exec";
          const asked = [...input, { role: "user", content: orderOf(name) }];
          const first = await respond({ model, input: asked, tools }, stream);
          const call: Json = first.output.find(({ type }: Json) => type === "custom_tool_call");
          assertEquals([call?.name, call?.input], ["exec", INPUT]);
          const sent = JSON.stringify(gateway.sandbox.requests.at(-1)!.body);
          assert(sent.includes("LINE+"), sent);
          const output = { type: "custom_tool_call_output", call_id: call.call_id, output: "a.txt" };
          const second = await respond({ model, input: [...asked, ...first.output, output], tools }, stream);
          assert(/The tool .*exec answered: .*a\.txt/.test(second.output_text), second.output_text);
        },
      });
    }
  }
}

/** Vendors that have function tools only, in their own format and in that of the caller. */
const FUNCTIONS_ONLY = ["deepseek-v4-pro", "mistral-large-4", "command-a-03-2025", "gpt-oss-120b", "grok-4.7"];

for (const vendorModel of FUNCTIONS_ONLY) {
  for (const stream of [false, true]) {
    const model = `sandbox/${vendorModel}`;
    Deno.test(`custom tools of chat completions work on ${model}, ${stream ? "streamed" : "whole"}`, async () => {
      const { format, ...patch } = PATCH;
      const { type: kind, syntax, definition } = format;
      const tools = [
        { type: "custom", custom: { name: "exec", description: EXEC.description } },
        { type: "custom", custom: { name: patch.name, format: { type: kind, grammar: { syntax, definition } } } },
      ];
      const asked = [{ role: "user", content: orderOf("exec") }];
      const first = await complete({ model, messages: asked, tools }, stream);
      assertEquals(first.dropped, "tools.custom.format");
      const [call] = first.message.tool_calls;
      assertEquals([call.type, call.custom.name, call.custom.input], ["custom", "exec", INPUT]);
      const result = { role: "tool", tool_call_id: call.id, content: "a.txt" };
      const second = await complete({ model, messages: [...asked, first.message, result], tools }, stream);
      assert(/The tool .*exec answered: .*a\.txt/.test(second.message.content), second.message.content);
    });
  }
}

/** The message of a completion, put together from its chunks, and what was dropped. */
async function complete(body: Json, stream: boolean): Promise<{ message: Json; dropped: string | null }> {
  const { chat } = openAi(families.gateway);
  const { data, response } = await chat.completions.create({ ...body, stream }).withResponse();
  const dropped = response.headers.get("x-service-dropped");
  if (!stream) return { message: (data as Json).choices[0].message, dropped };
  const message: Json = { role: "assistant", content: "" };
  for await (const { choices } of data as unknown as AsyncIterable<Json>) {
    const { content, tool_calls: [piece] = [] } = choices[0]?.delta ?? {};
    message.content += content ?? "";
    if (!piece) continue;
    message.tool_calls ??= [{ id: piece.id, type: piece.type, custom: { name: piece.custom?.name, input: "" } }];
    message.tool_calls[0].custom.input += piece.custom?.input ?? "";
  }
  return { message, dropped };
}

Deno.test({
  name: "a grammar is written into the description and named as dropped; a custom tool without one drops nothing",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    for (const model of ["sandbox/messages-1", "sandbox/content-1"]) {
      const ask = (tools: Json) => client().responses.create({ model, input: "hi", tools }).asResponse();
      assertEquals((await ask([EXEC])).headers.get("x-service-dropped"), null);
      assertEquals((await ask([PATCH])).headers.get("x-service-dropped"), "tools.format");
    }
  },
});

/** The complete response, as the client assembles it. */
async function respond(body: Json, stream: boolean): Promise<Json> {
  if (!stream) return await client().responses.create(body);
  const items: Json[] = [];
  let text = "";
  const deltas: string[] = [];
  for await (
    const event of await client().responses.create({ ...body, stream: true }) as unknown as AsyncIterable<Json>
  ) {
    if (event.type === "response.custom_tool_call_input.delta") deltas.push(event.delta);
    if (event.type === "response.output_item.done") items.push(event.item);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  const call = items.find(({ type }) => type === "custom_tool_call");
  if (call) assertEquals(deltas.join(""), call.input);
  return { output: items, output_text: text };
}

Deno.test({
  name: "the gateway of the custom tools stops",
  sanitizeResources: false,
  sanitizeOps: false,
  async fn() {
    await gateway.stop();
    await families.gateway.stop();
    await families.vendors.stop();
  },
});
