import { assertEquals, assertMatch } from "@std/assert";
import { startTestGateway, textModel } from "../support/gateway.ts";
import { itemAt } from "../support/items.ts";
import { accountMoney } from "../support/account_money.ts";
import {
  assertErrorShape,
  CALLER_PROTOCOLS,
  type CallerProtocol,
  CHAT,
  CONTENT,
  INVALID_REQUEST_TYPES,
  MESSAGES,
  type ProtocolRequest,
  type ProtocolResponse,
  RESPONSES,
  sendAs,
} from "./caller_protocols.ts";

const gateway = await startTestGateway({
  config: {
    models: [
      textModel("sandbox/chat-1", ["sandbox-openai"]),
      textModel("sandbox/messages-1", ["sandbox-anthropic"]),
      textModel("sandbox/content-1", ["sandbox-google"]),
      textModel("sandbox/any-1", ["sandbox-openai", "sandbox-anthropic", "sandbox-google"]),
      { id: "sandbox/image-1", image: { series: "default" }, serves: [{ provider: "sandbox-openai" }] },
    ],
  },
});
const account = accountMoney(gateway);

interface Refusal {
  readonly what: string;
  readonly face: CallerProtocol;
  readonly question: ProtocolRequest;
  readonly status: number;
  readonly message: RegExp;
  /** Default: the format's type for an invalid request. */
  readonly word?: string;
}

function refusal(
  what: string,
  face: CallerProtocol,
  question: ProtocolRequest,
  status: number,
  message: RegExp,
  word?: string,
): Refusal {
  return { what, face, question, status, message, ...(word === undefined ? {} : { word }) };
}

const NOT_FOUND: Readonly<Record<CallerProtocol["name"], string>> = {
  chat: "not_found_error",
  responses: "not_found_error",
  messages: "not_found_error",
  content: "NOT_FOUND",
};

const image = (source: Record<string, unknown>) => ({
  messages: [{ role: "user", content: [{ type: "image", source }] }],
});

const ofEachForm: readonly Refusal[] = CALLER_PROTOCOLS.flatMap((face) => [
  refusal("an unknown model", face, { model: "sandbox/nowhere" }, 404, /sandbox\/nowhere/, NOT_FOUND[face.name]),
  refusal("a body that is no JSON", face, { body: '{"model": ' }, 400, /JSON/),
  refusal("a body that is a list", face, { body: "[]" }, 400, /object/),
  refusal("two keys of one name", face, { body: twice(face) }, 400, /twice|duplicate|more than once/i),
  refusal(
    "a pin of no provider in the header",
    face,
    pinned("nosuch"),
    400,
    /nosuch/,
    pinWord(face, "invalid_provider_type"),
  ),
  refusal(
    "a pin of a provider that does not serve the model",
    face,
    pinned(face.ownModel === "sandbox/chat-1" ? "sandbox-google" : "sandbox-openai"),
    400,
    /sandbox-(openai|anthropic|google)"$/,
    pinWord(face, "provider_type_unavailable"),
  ),
]);

const ofPinsInBodies: readonly Refusal[] = [CHAT, RESPONSES, MESSAGES].flatMap((face) => [
  refusal("a pin of no provider in the body", face, bodyPinned("nosuch"), 400, /nosuch/, "invalid_provider_type"),
  refusal(
    "pins of header and body that differ",
    face,
    {
      model: "sandbox/any-1",
      headers: pinned("sandbox-openai").headers,
      extra: bodyPinned("sandbox-google").extra,
    },
    400,
    /differs/,
  ),
  refusal("a pin that is a number", face, bodyPinned(17), 400, /extra_body\.provider\.type/),
  refusal("a pin that is a list", face, bodyPinned([]), 400, /extra_body\.provider\.type/),
  refusal("a pin that is empty", face, bodyPinned(""), 400, /extra_body\.provider\.type/),
  refusal("an extra_body that is a number", face, { extra: { extra_body: 3 } }, 400, /extra_body/),
  refusal("no model", face, { body: { ...face.body("", "hi"), model: undefined } }, 400, /"model"/),
  refusal("a model that climbs", face, { model: "../x" }, 404, /model/i, NOT_FOUND[face.name]),
]);

const ofMessages: readonly Refusal[] = [
  ...[undefined, 0, -1, 1.5].map((max_tokens) =>
    refusal(`max_tokens ${max_tokens}`, MESSAGES, { extra: { max_tokens } }, 400, /max_tokens/)
  ),
  refusal("temperature 1.01", MESSAGES, { extra: { temperature: 1.01 } }, 400, /temperature/),
  refusal("a temperature that is text", MESSAGES, { extra: { temperature: "0.5" } }, 400, /temperature/),
  refusal("no messages", MESSAGES, { extra: { messages: [] } }, 400, /messages/),
  refusal(
    "a role that is none",
    MESSAGES,
    { extra: { messages: [{ role: "wizard", content: "a" }] } },
    400,
    /messages\[0\]/,
  ),
  refusal(
    "a content that is null",
    MESSAGES,
    { extra: { messages: [{ role: "user", content: null }] } },
    400,
    /messages\[0\]/,
  ),
  refusal(
    "an image in bad base64",
    MESSAGES,
    {
      extra: image({ type: "base64", media_type: "image/png", data: "@@@@" }),
    },
    400,
    /messages\[0\]\.content\[0\]/,
  ),
  refusal(
    "an image of HTML",
    MESSAGES,
    {
      extra: image({ type: "base64", media_type: "text/html", data: "PGI+" }),
    },
    400,
    /messages\[0\]\.content\[0\]/,
  ),
  refusal(
    "an answer to no call",
    MESSAGES,
    {
      extra: {
        messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_x1", content: "a" }] }],
      },
    },
    400,
    /toolu_x1/,
  ),
  refusal(
    "a choice of no tool",
    MESSAGES,
    {
      extra: { tools: [{ name: "a", input_schema: { type: "object" } }], tool_choice: { type: "tool", name: "b" } },
    },
    400,
    /tool_choice/,
  ),
  refusal("no version", MESSAGES, { headers: { "msg-version": "2020-01-01" } }, 400, /msg-version/),
];

const ofOthers: readonly Refusal[] = [
  refusal("a model of 10 KB", CHAT, { model: "x".repeat(10_240) }, 400, /"model"/),
  refusal("a model of 10 KB", RESPONSES, { model: "x".repeat(10_240) }, 400, /"model"/),
  refusal("a model of 10 KB", MESSAGES, { model: "x".repeat(10_240) }, 404, /x{64}/, "not_found_error"),
  refusal("a model of images", CHAT, { model: "sandbox/image-1" }, 400, /\/v1\/images\/generations/),
  refusal("no messages", CHAT, { extra: { messages: [] } }, 400, /messages/),
  refusal(
    "a role that is none",
    CHAT,
    { extra: { messages: [{ role: "wizard", content: "a" }] } },
    400,
    /messages\[0\]/,
  ),
  refusal(
    "a choice of no tool",
    CHAT,
    {
      extra: {
        tools: [{ type: "function", function: { name: "a" } }],
        tool_choice: { type: "function", function: { name: "b" } },
      },
    },
    400,
    /tool_choice/,
  ),
  refusal(
    "an answer to no call",
    CHAT,
    {
      extra: { messages: [{ role: "tool", tool_call_id: "call_x1", content: "a" }] },
    },
    400,
    /call_x1/,
  ),
  refusal(
    "an answer to no call",
    RESPONSES,
    {
      extra: { input: [{ type: "function_call_output", call_id: "call_x1", output: "a" }] },
    },
    400,
    /call_x1/,
  ),
  refusal("no contents", CONTENT, { body: { contents: [] } }, 400, /contents/),
  refusal(
    "a role that is none",
    CONTENT,
    { body: { contents: [{ role: "wizard", parts: [{ text: "a" }] }] } },
    400,
    /contents\[0\]/,
  ),
  refusal("no verb", CONTENT, { path: "/gencompat/v1beta/models/sandbox/content-1" }, 404, /./, "NOT_FOUND"),
  refusal(
    "a verb that is none",
    CONTENT,
    { path: "/gencompat/v1beta/models/sandbox/content-1:fly" },
    404,
    /./,
    "NOT_FOUND",
  ),
];

for (
  const { what, face, question, status, message, word } of [
    ...ofEachForm,
    ...ofPinsInBodies,
    ...ofMessages,
    ...ofOthers,
  ]
) {
  for (const stream of face === CONTENT && question.path ? [false] : [false, true]) {
    Deno.test(`${face.name} answers ${status} to ${what}${stream ? " of a stream" : ""}, charges and sends nothing`, async () => {
      const [before, sent] = [await account.balance(), gateway.sandbox.requests.length];
      const answer = await sendAs(face, gateway, { ...question, stream });
      assertEquals(answer.status, status, answer.text);
      assertErrorShape(face, answer);
      assertEquals(face.errorType(answer.json), word ?? INVALID_REQUEST_TYPES[face.name]);
      assertMatch(answer.json.error.message, message);
      assertEquals([await account.balance(), gateway.sandbox.requests.length], [before, sent]);
    });
  }
}

Deno.test("every protocol answers 413 to a body above 20 MB, charges and sends nothing", async () => {
  const [before, sent] = [await account.balance(), gateway.sandbox.requests.length];
  for (const face of CALLER_PROTOCOLS) {
    const answer = await sendAs(face, gateway, { text: "x".repeat(21_000_000) });
    assertEquals(answer.status, 413, face.name);
    assertErrorShape(face, answer);
  }
  assertEquals([await account.balance(), gateway.sandbox.requests.length], [before, sent]);
});

Deno.test("the content protocol ignores a pin in the body", async () => {
  const answer = await sendAs(CONTENT, gateway, bodyPinned("nosuch"));
  assertEquals([answer.status, CONTENT.textIn(answer.json)], [200, "You said: hello there"]);
  const forms = await sendAs(CONTENT, gateway, { ...bodyPinned("sandbox-openai"), model: "sandbox/content-1" });
  assertEquals(forms.headers.get("x-service-provider"), "sandbox-google");
});

Deno.test("every protocol answers a failure before the first byte of a stream as plain JSON with its status", async () => {
  for (const face of CALLER_PROTOCOLS) {
    for (const model of ["sandbox/chat-1", "sandbox/messages-1", "sandbox/content-1"]) {
      const answer: ProtocolResponse = await sendAs(face, gateway, { model, text: "[[fail 422 No]] x", stream: true });
      assertEquals(answer.status, 422, `${face.name} ${model}`);
      assertErrorShape(face, answer);
    }
  }
});

Deno.test({
  name: "the gateway of these tests stops",
  sanitizeResources: false,
  sanitizeOps: false,
  fn: () => gateway.stop(),
});

function twice(face: CallerProtocol): string {
  const body = JSON.stringify(face.body(face.ownModel, "hello"));
  const first = itemAt(Object.entries(face.body(face.ownModel, "hello")), 0);
  return `{${JSON.stringify(first[0])}:${JSON.stringify(first[1])},${body.slice(1)}`;
}

function pinned(provider: string): { headers: Record<string, string> } {
  return { headers: { "x-service-provider-type": provider } };
}

function bodyPinned(type: unknown): { extra: Record<string, unknown> } {
  return { extra: { extra_body: { provider: { type } } } };
}

/** The content protocol has the type in `error.type`, beside the status. */
function pinWord(face: CallerProtocol, word: string): string {
  return face === CONTENT ? "INVALID_ARGUMENT" : word;
}
