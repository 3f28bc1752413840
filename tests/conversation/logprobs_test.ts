import { readChecked } from "../../src/conversation/caller_format.ts";
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/lib/json_object.ts";
import type { Form } from "../../src/conversation/seal.ts";
import { CODECS, TARGETS } from "../support/forms.ts";
import { retarget } from "../support/conversations.ts";

// Whoever asks for probabilities of tokens gets them from vendors that have them, and is told of the others.

const HI = [{ role: "user", content: "Hi" }];

const CONTENTS = [{ role: "user", parts: [{ text: "Hi" }] }];

const REQUESTED: readonly (readonly [Form, body: JsonObject, logprobs: number | undefined])[] = [
  ["chat", { messages: HI, logprobs: true, top_logprobs: 2 }, 2],
  ["chat", { messages: HI, logprobs: true }, 0],
  ["chat", { messages: HI, logprobs: false }, undefined],
  ["responses", { input: "Hi", top_logprobs: 2, include: ["message.output_text.logprobs"] }, 2],
  ["responses", { input: "Hi", include: ["message.output_text.logprobs"] }, 0],
  ["responses", { input: "Hi", top_logprobs: 0 }, undefined],
  ["content", { contents: CONTENTS, generationConfig: { responseLogprobs: true, logprobs: 2 } }, 2],
  ["content", { contents: CONTENTS, generation_config: { response_logprobs: true } }, 0],
  ["content", { contents: CONTENTS, generationConfig: { responseLogprobs: false } }, undefined],
];

for (const [form, body, logprobs] of REQUESTED) {
  Deno.test(`${form} request reader reads how many probabilities of tokens are wanted: ${JSON.stringify(body)}`, () => {
    const read = readChecked(CODECS[form].caller, { model: "prov/m", ...body });
    assertEquals([read.logprobs, read.beyond], [logprobs, []]);
  });
}

Deno.test("request writers ask for probabilities of tokens in their own words", () => {
  const conversation = readChecked(CODECS.chat.caller, {
    model: "prov/m",
    messages: HI,
    logprobs: true,
    top_logprobs: 2,
  });
  const written = (form: Form, model: string) =>
    CODECS[form].upstream.writeRequest(conversation, retarget(TARGETS[form], { model })).body;
  const { logprobs, top_logprobs: top } = written("chat", "gpt-4.1");
  assertEquals([logprobs, top], [true, 2]);
  const responses = written("responses", "gpt-4.1");
  assertEquals([responses.include, responses.top_logprobs], [["message.output_text.logprobs"], 2]);
  assertEquals(written("content", "gemini-3-flash").generationConfig, { responseLogprobs: true, logprobs: 2 });
});

Deno.test("request writers name probabilities of tokens that a model does not give", () => {
  const conversation = readChecked(CODECS.chat.caller, { model: "prov/m", messages: HI, logprobs: true });
  for (const [form, model] of [["chat", "gpt-5"], ["responses", "gpt-5"], ["messages", "claude-opus-4-5"]] as const) {
    assertEquals(CODECS[form].upstream.writeRequest(conversation, retarget(TARGETS[form], { model })).losses, [
      "logprobs",
    ]);
  }
});

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
