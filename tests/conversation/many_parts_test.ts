import { assert } from "@std/assert";
import { readChecked } from "../../src/conversation/contract/caller_format.ts";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { content } from "../../src/conversation/codecs/content/mod.ts";
import { messages } from "../../src/conversation/codecs/messages/mod.ts";
import { responses } from "../../src/conversation/codecs/responses/mod.ts";
import { TARGETS, UPSTREAMS, VENDOR_FORMATS } from "../support/formats.ts";

const COUNT = 200_000;
const many = <T>(item: T): T[] => Array.from({ length: COUNT }, () => item);
const text = { type: "text", text: "x" };
const user = { role: "user", content: "y" };

/** A turn of very many parts in two messages, and very many instructions. */
const REQUESTS = [
  {
    caller: chat.caller,
    body: { messages: [{ role: "system", content: many(text) }, user, { role: "user", content: many(text) }] },
  },
  {
    caller: messages.caller,
    body: { max_tokens: 9, system: many(text), messages: [user, { role: "user", content: many(text) }] },
  },
  {
    caller: responses.caller,
    body: {
      input: [{ role: "system", content: many({ type: "input_text", text: "x" }) }, {
        role: "user",
        content: many({ type: "input_text", text: "x" }),
      }],
    },
  },
  {
    caller: content.caller,
    body: { contents: [{ role: "user", parts: [{ text: "y" }] }, { role: "user", parts: many({ text: "x" }) }] },
  },
];

Deno.test("any number of parts of a turn is read, and written for every vendor", () => {
  for (const { caller, body } of REQUESTS) {
    const conversation = readChecked(caller, { model: "m", ...body });
    const texts = conversation.turns.flatMap(({ parts }) => parts.map((part) => part.kind === "text" ? part.text : ""));
    assert(texts.join("").length >= COUNT);
    for (const form of VENDOR_FORMATS) UPSTREAMS[form].writeRequest(conversation, TARGETS[form]);
  }
});
