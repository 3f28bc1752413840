import { assertEquals } from "@std/assert";
import { issueSignature } from "../../src/sandbox/signatures.ts";
import { refuses, takes } from "./rules_support.ts";
import { ENDPOINTS, inSandbox } from "./support.ts";

const user = (...parts: object[]) => ({ role: "user", parts: [...parts, { text: "Hi" }] });
const model = (...parts: object[]) => ({ role: "model", parts });
const thoughtSignature = issueSignature("content", "x").value;
const call = { functionCall: { name: "f", args: {} } };
const signed = { ...call, thoughtSignature };
const answer = { functionResponse: { name: "f", response: { output: "Yes" } } };
const answers = (...parts: object[]) => ({ role: "user", parts });
const declared = (fields: object) => ({ tools: [{ functionDeclarations: [{ name: "f", ...fields }] }] });

refuses("content", [
  ["an unknown field", { extra_body: {} }, 'Unknown name "extra_body": Cannot find field.'],
  [
    "an unknown field of a part",
    { contents: [user({ text: "a", cache_control: {} })] },
    `Unknown name "cache_control" at 'contents[0].parts[0]'`,
  ],
  [
    "an unknown keyword of a schema",
    declared({ parameters: { type: "OBJECT", additionalProperties: false } }),
    `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters'`,
  ],
  ["no contents", { contents: [] }, "contents is not specified"],
  ["no parts", { contents: [{ role: "user", parts: [] }] }, "contents.parts must not be empty"],
  ["empty text", { contents: [{ role: "user", parts: [{ text: "" }] }] }, "must have one initialized field"],
  ["an unknown role", { contents: [{ role: "assistant", parts: [{ text: "a" }] }] }, "Please use a valid role"],
  [
    "a picture at an address",
    { contents: [user({ fileData: { fileUri: "https://example.com/a.png" } })] },
    "Invalid or unsupported file uri",
  ],
  ["a call that begins", { contents: [model(signed), answers(answer)] }, "immediately after a user turn"],
  ["a call without its answer", { contents: [user(), model(signed), user()] }, "number of function response parts"],
  [
    "an answer too few",
    { contents: [user(), model(signed, call), answers(answer)] },
    "number of function response parts",
  ],
  [
    "an answer without its call",
    { contents: [user(), model({ text: "a" }), answers(answer)] },
    "comes immediately after a function call turn",
  ],
  ["a step without its signature", { contents: [user(), model(call), answers(answer)] }, "missing a thought_signature"],
  ["a signature of another issuer", {
    contents: [user(), model({ ...call, thoughtSignature: "eA==" }), answers(answer)],
  }, "Corrupted thought signature."],
  ["a tool's name that begins with a digit", declared({ name: "1a" }), "Invalid function name"],
  ["names for calls of any kind", {
    ...declared({}),
    toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["f"] } },
  }, "mode is ANY or VALIDATED"],
  ["an unknown mode", { ...declared({}), toolConfig: { functionCallingConfig: { mode: "any" } } }, "TYPE_ENUM"],
  ["six stop sequences", { generationConfig: { stopSequences: ["a", "b", "c", "d", "e", "f"] } }, "must not exceed 5"],
  ["a schema for plain text", { generationConfig: { responseSchema: { type: "STRING" } } }, "only supported with"],
  [
    "a budget and a level",
    { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } },
    "only set only one of",
  ],
  ["a seed of 64 bits", { generationConfig: { seed: 2 ** 40 } }, "TYPE_INT32"],
]);

takes("content", [
  ["a signed call with its answer", { contents: [user(), model(signed), answers(answer)] }],
  ["the placeholder of a signature", {
    contents: [user(), model({ ...call, thoughtSignature: "skip_thought_signature_validator" }), answers(answer)],
  }],
  ["a step of an earlier turn without its signature", {
    contents: [user(), model(call), answers(answer), model({ text: "a" }), user()],
  }],
  ["chunks of a stream that a chat client kept as contents", {
    contents: [user(), model(signed), model({ text: "" }), answers(answer)],
  }],
  ["both spellings of names", {
    contents: [user({ inline_data: { mime_type: "image/png", data: "AAAA" } })],
    generation_config: { max_output_tokens: 50, thinking_config: { include_thoughts: true } },
  }],
]);

Deno.test("sandbox content accepts a step without its signature from a model before the third generation", () =>
  inSandbox(async ({ sandbox }) => {
    const { headers } = ENDPOINTS.content;
    const url = `${sandbox.baseUrls.google}/v1beta/models/gemini-2.5-pro:generateContent`;
    const body = JSON.stringify({ contents: [user(), model(call), answers(answer)] });
    const response = await fetch(url, { method: "POST", headers, body });
    await response.body?.cancel();
    assertEquals(response.status, 200);
  }));

Deno.test("sandbox content names every unknown field at once", () =>
  inSandbox(async ({ sandbox }) => {
    const { path, headers } = ENDPOINTS.content;
    const body = JSON.stringify({ a: 1, contents: [{ ...user(), b: 2 }] });
    const { error } = await (await fetch(path(sandbox), { method: "POST", headers, body })).json();
    assertEquals(error.details[0].fieldViolations.length, 2);
  }));
