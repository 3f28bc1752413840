import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { replyContextOf, retarget } from "../support/conversations.ts";
import { CODECS, TARGETS, writtenAsStream, writtenWhole } from "../support/formats.ts";
import type { ReplyEvent } from "../../src/conversation/neutral/events.ts";
import type { Reply } from "../../src/conversation/neutral/reply.ts";

// Token probabilities are returned by vendors that support them and reported as dropped by the others.

const HI = [{ role: "user", content: "Hi" }];

const CONTENTS = [{ role: "user", parts: [{ text: "Hi" }] }];

const REQUESTED: readonly (readonly [CallerFormatName, body: JsonObject, logprobs: number | undefined])[] = [
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
  Deno.test(`${form} request reader reads the requested number of token probabilities: ${JSON.stringify(body)}`, () => {
    const read = readChecked(CODECS[form].caller, { model: "prov/m", ...body });
    assertEquals([read.logprobs, read.unsupportedFields], [logprobs, []]);
  });
}

Deno.test("request writers request token probabilities in their own fields", () => {
  const conversation = readChecked(CODECS.chat.caller, {
    model: "prov/m",
    messages: HI,
    logprobs: true,
    top_logprobs: 2,
  });
  const written = (form: CallerFormatName, model: string) =>
    CODECS[form].upstream.writeRequest(conversation, retarget(TARGETS[form], { model })).body;
  const { logprobs, top_logprobs: top } = written("chat", "gpt-4.1");
  assertEquals([logprobs, top], [true, 2]);
  const responses = written("responses", "gpt-4.1");
  assertEquals([responses.include, responses.top_logprobs], [["message.output_text.logprobs"], 2]);
  assertEquals(written("content", "gemini-3-flash").generationConfig, { responseLogprobs: true, logprobs: 2 });
});

Deno.test("request writers report token probabilities that a model does not support", () => {
  const conversation = readChecked(CODECS.chat.caller, { model: "prov/m", messages: HI, logprobs: true });
  for (const [form, model] of [["chat", "gpt-5"], ["responses", "gpt-5"], ["messages", "claude-opus-4-5"]] as const) {
    assertEquals(CODECS[form].upstream.writeRequest(conversation, retarget(TARGETS[form], { model })).droppedFields, [
      "logprobs",
    ]);
  }
});

/** A text of two tokens, in each format. */
const TOKENS = [
  { token: "He", logprob: -0.5, bytes: null, alternatives: [{ token: "Ho", logprob: -1.5, bytes: null }] },
  { token: "y", logprob: -0.25, bytes: null, alternatives: [] },
];
const REPLY = {
  id: "r",
  model: "m",
  createdAt: 1,
  parts: [{ kind: "text" as const, text: "Hey", logprobs: TOKENS }],
  stop: { reason: "end" as const, raw: null },
  usage: null,
  unsupportedFields: [],
};
const EVENTS: readonly ReplyEvent[] = [
  { type: "start", id: "r", model: "m", createdAt: 1, usage: null },
  { type: "part-start", index: 0, part: { kind: "text" } },
  { type: "part-delta", index: 0, text: "He", logprobs: TOKENS.slice(0, 1) },
  { type: "part-delta", index: 0, text: "y", logprobs: TOKENS.slice(1) },
  { type: "part-end", index: 0 },
  { type: "finish", stop: REPLY.stop, usage: null },
];

for (const form of ["chat", "responses", "content"] as const) {
  Deno.test(`${form} replies keep token probabilities, whole and streamed`, () => {
    const tokensOf = ({ parts }: Reply) => parts.map((part) => part.kind === "text" && part.logprobs);
    assertEquals(tokensOf(writtenWhole(form, REPLY, replyContextOf())), [TOKENS]);
    assertEquals(tokensOf(writtenAsStream(form, EVENTS, replyContextOf())), [TOKENS]);
  });
}

Deno.test("messages replies report token probabilities as dropped", () => {
  assertEquals(CODECS.messages.caller.writeReply(REPLY, replyContextOf()).droppedFields, ["logprobs"]);
});
