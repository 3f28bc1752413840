import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import { NO_QUIRKS } from "../../src/conversation/contract/quirks.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import { openApiSchemaOf } from "../../src/conversation/schemas/openapi_schema.ts";
import type { Conversation, Part, Turn } from "../../src/conversation/neutral/conversation.ts";
import { isStrictSchema } from "../../src/conversation/schemas/strict_schema.ts";
import { conversationOf, RESEMBLING_QUIRKS, retarget } from "../support/conversations.ts";
import { asRead, CODECS, FORMATS, TARGETS, throughFormat } from "../support/formats.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { atLeast, itemAt } from "../support/items.ts";

// Problems of translating requests that several formats share.

const text = (value: string): Part & { kind: "text" } => ({ kind: "text", text: value });
const HI: Turn = { role: "user", parts: [text("Hi")] };
const CALL: Part = { kind: "tool_call", callId: "c1", tool: "look", input: "{}" };
const RESULT: Part = { kind: "tool_result", callId: "c1", tool: "look", parts: [text("done")], isError: false };

function turnsOf(...turns: [Turn["role"], ...Part[]][]): Turn[] {
  return turns.map(([role, ...parts]) => ({ role, parts }));
}

function bodyIn(form: CallerFormatName, asked: Partial<Conversation>): string {
  const { body } = throughFormat(form, conversationOf(asked));
  CODECS[form].caller.check(asRead(form, body, false));
  return JSON.stringify(body);
}

for (const form of FORMATS) {
  Deno.test(`instructions without a conversation become a ${form} request with a user message`, () => {
    // Only OpenAI accepts instructions without a user message.
    const target = { ...TARGETS[form], quirks: form === "chat" ? RESEMBLING_QUIRKS : NO_QUIRKS };
    const { read } = throughFormat(form, conversationOf({ instructions: [text("Be brief")], turns: [] }), target);
    assertEquals(read.instructions, [text("Be brief")]);
    assertEquals(read.turns.map(({ role }) => role), ["user"]);
  });

  Deno.test(`an interrupted run is written as ${form} with a result for every call and a call for every result`, () => {
    const lost: Part = { ...RESULT, callId: "gone", parts: [text("orphan")] } as Part;
    const asked = conversationOf({
      turns: turnsOf(["user", text("Hi")], ["assistant", CALL, { ...CALL, callId: "c2" } as Part], [
        "user",
        lost,
        RESULT,
      ]),
    });
    const { read } = throughFormat(form, asked);
    const parts = read.turns.flatMap((turn) => turn.parts);
    const calls = parts.flatMap((part) => part.kind === "tool_call" ? [part.callId] : []);
    assertEquals(parts.flatMap((part) => part.kind === "tool_result" ? [part.callId] : []), calls);
    assertEquals(calls.length, 2);
    assertStringIncludes(bodyIn(form, asked), "orphan");
  });

  Deno.test(`a result that arrives one turn late is matched to its call in ${form}`, () => {
    const turns = turnsOf(
      ["user", text("Hi")],
      ["assistant", CALL],
      ["user", text("wait")],
      ["assistant", text("so")],
      [
        "user",
        RESULT,
      ],
    );
    const { read } = throughFormat(form, conversationOf({ turns }));
    const [, , answered] = atLeast(read.turns, 3);
    assert(answered.parts[0]?.kind === "tool_result");
    assertEquals(answered.parts[0].parts, [text("done")]);
  });

  Deno.test(`invalid arguments of a call return from ${form} as the model wrote them`, () => {
    const turns = turnsOf(["user", text("Hi")], ["assistant", { ...CALL, input: '{"a": ' } as Part], ["user", RESULT]);
    const { read } = throughFormat(form, conversationOf({ turns }));
    const call = itemAt(read.turns, 1).parts.find((part) => part.kind === "tool_call");
    assertEquals(call?.input, '{"a": ');
  });

  Deno.test(`a client's accounting line reaches no vendor of ${form}`, () => {
    const system = [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2; cc_entrypoint=cli" },
      { type: "text", text: "Be brief" },
    ];
    const body = { model: "a/m", max_tokens: 9, system, messages: [{ role: "user", content: "Hi" }] };
    const { instructions } = readChecked(CODECS.messages.caller, body);
    const sent = bodyIn(form, { instructions });
    assert(!sent.includes("billing"));
    assertStringIncludes(sent, "Be brief");
  });

  Deno.test(`a caller's own routing key never reaches a vendor of ${form}`, () => {
    const body = { model: "a/m", messages: [{ role: "user", content: "Hi" }], extra_body: { provider: { type: "x" } } };
    const read = readChecked(CODECS.chat.caller, body);
    assertEquals(read.unsupportedFields, []);
    assert(!JSON.stringify(throughFormat(form, read).body).includes("extra_body"));
  });
}

Deno.test("several instructions stay separate blocks for messages, so that each keeps its cache mark", () => {
  const instructions = [{ ...text("a"), cache: { ttl: null } }, text("b")];
  const { body } = throughFormat("messages", conversationOf({ instructions }));
  assertEquals(body.system, [
    { type: "text", text: "a", cache_control: { type: "ephemeral" } },
    { type: "text", text: "b" },
  ]);
});

Deno.test("a block without text never has a cache mark", () => {
  const blank = { ...text("  "), cache: { ttl: null } };
  const { body } = throughFormat("messages", conversationOf({ turns: [{ role: "user", parts: [blank, text("Hi")] }] }));
  assert(!JSON.stringify(body).includes("cache_control"));
});

Deno.test("unsigned reasoning of a chat caller is dropped for messages, and reported", () => {
  const history = { role: "assistant", content: "Yes", reasoning_content: "hm" };
  const user = { role: "user", content: "Hi" };
  const read = readChecked(CODECS.chat.caller, { model: "a/m", messages: [user, history, user] });
  const { body, droppedFields } = throughFormat("messages", read);
  assert(!JSON.stringify(body).includes("hm"));
  assertEquals(droppedFields, ["reasoning_text"]);
});

Deno.test("a messages caller that requests thinking receives the reasoning of a content vendor", () => {
  const asked = (thinking: JsonObject) => {
    const body = { model: "a/m", max_tokens: 9999, messages: [{ role: "user", content: "Hi" }], thinking };
    const config = throughFormat("content", readChecked(CODECS.messages.caller, body)).body
      .generationConfig as JsonObject;
    return (config.thinkingConfig as JsonObject).includeThoughts;
  };
  assertEquals(asked({ type: "enabled", budget_tokens: 2000 }), true);
  assertEquals(asked({ type: "adaptive" }), true);
  assertEquals(asked({ type: "adaptive", display: "omitted" }), false);
});

Deno.test("reasoning budgets and efforts are converted by the same shares in both directions", () => {
  for (const effort of ["low", "medium", "high"] as const) {
    const reasoning = { effort, budgetTokens: null, visible: null };
    const older = retarget(TARGETS.messages, { model: "claude-sonnet-4-5" });
    const { body } = throughFormat("messages", conversationOf({ reasoning, maxOutputTokens: 30_000 }), older);
    const { read } = throughFormat("responses", readChecked(CODECS.messages.caller, asRead("messages", body, false)));
    assertEquals(read.reasoning?.effort, effort);
  }
});

Deno.test("a forced call and thinking are not sent to messages together", () => {
  const tools: Conversation["tools"] = [{
    kind: "function",
    name: "f",
    description: null,
    parameters: null,
    strict: null,
  }];
  const reasoning = { effort: "high" as const, budgetTokens: null, visible: true };
  const { body } = throughFormat("messages", conversationOf({ tools, toolChoice: { kind: "required" }, reasoning }));
  assertEquals([(body.thinking as JsonObject).type, (body.tool_choice as JsonObject).type], ["disabled", "any"]);
});

Deno.test("a required property without a schema is not enforced, and not sent to vendors that reject it", () => {
  const schema = { type: "object", properties: { a: {} }, required: ["a", "gone"], additionalProperties: false };
  assert(!isStrictSchema(schema));
  assertEquals(openApiSchemaOf(schema).schema.required, ["a"]);
});

Deno.test("a file stored at one vendor is rejected for another vendor", () => {
  const urls = ["gs://bucket/a.png", "https://generativelanguage.googleapis.com/v1beta/files/abc"];
  for (const form of FORMATS.filter((form) => form !== "content")) {
    for (const url of urls) {
      const image: Part = { kind: "image", source: { kind: "url", url, mediaType: "image/png" } };
      const written = () =>
        CODECS[form].upstream.writeRequest(conversationOf({ turns: [{ ...HI, parts: [image] }] }), TARGETS[form]);
      assertThrows(written, GatewayError, "stored at another vendor");
    }
  }
});

Deno.test("a tool offered twice by a responses caller is offered once", () => {
  const tool = { type: "function", name: "f", parameters: { type: "object", properties: {} } };
  const input = [{ type: "additional_tools", tools: [tool] }, { role: "user", content: "Hi" }];
  assertEquals(readChecked(CODECS.responses.caller, { model: "a/m", input, tools: [tool] }).tools.length, 1);
});
