import { readChecked } from "../../src/conversation/caller_format.ts";
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/lib/json_object.ts";
import type { Form } from "../../src/conversation/seal.ts";
import { CODECS } from "../support/forms.ts";

// Probabilities of tokens are not translated. Whoever asked for them is told, whatever form the vendor has.

const HI = [{ role: "user", content: "Hi" }];

const ASKED: readonly (readonly [Form, body: JsonObject, beyond: readonly string[]])[] = [
  ["chat", { messages: HI, logprobs: true, top_logprobs: 2 }, ["logprobs", "top_logprobs"]],
  ["chat", { messages: HI, logprobs: false }, []],
  ["responses", { input: "Hi", top_logprobs: 2, include: ["message.output_text.logprobs"] }, [
    "top_logprobs",
    "include",
  ]],
  ["responses", { input: "Hi", top_logprobs: 0 }, []],
  ["messages", { messages: HI, max_tokens: 9, logprobs: true, top_logprobs: 2 }, ["logprobs", "top_logprobs"]],
  ["content", {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { responseLogprobs: true, logprobs: 2 },
  }, ["generationConfig.responseLogprobs", "generationConfig.logprobs"]],
];

for (const [form, body, beyond] of ASKED) {
  const what = beyond.length > 0 ? "reports that probabilities of tokens were asked for" : "reports none unasked";
  Deno.test(`${form} request reader ${what}: ${Object.keys(body).join(", ")}`, () => {
    assertEquals(readChecked(CODECS[form].caller, { model: "prov/m", ...body }).beyond, beyond);
  });
}

const TOKEN = { token: "Hi", logprob: -0.1, bytes: null, top_logprobs: [] };

const GIVEN: readonly (readonly [Form, body: JsonObject, beyond: readonly string[]])[] = [
  ["chat", {
    id: "c",
    choices: [{ message: { role: "assistant", content: "Hi" }, finish_reason: "stop", logprobs: { content: [TOKEN] } }],
  }, ["choices[0].logprobs"]],
  ["responses", {
    id: "r",
    object: "response",
    status: "completed",
    output: [{ type: "message", content: [{ type: "output_text", text: "Hi", logprobs: [TOKEN] }] }],
  }, ["output.content.logprobs"]],
  ["content", {
    candidates: [{
      content: { role: "model", parts: [{ text: "Hi" }] },
      finishReason: "STOP",
      avgLogprobs: -0.1,
      logprobsResult: { chosenCandidates: [{ token: "Hi", logProbability: -0.1 }] },
    }],
  }, ["candidates.logprobsResult"]],
];

for (const [form, body, beyond] of GIVEN) {
  Deno.test(`${form} reply reader reports the probabilities of tokens that a vendor gave`, () => {
    assertEquals(CODECS[form].upstream.readReply(body).beyond, beyond);
  });
}
