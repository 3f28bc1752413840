import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { accountMoney } from "../../support/account_money.ts";
import {
  type CallerFormat,
  CALLERS,
  chatChunk,
  chatReply,
  contentReply,
  type Got,
  type Json,
  MODELS,
  responsesReply,
  type Script,
  startScriptedVendors,
} from "./scripted_vendors.ts";

// A reply that failed never looks like one that ended, in any format.

/** Whether a reply of a caller's format looks like an answer that is complete. */
function looksDone({ status, text, events }: Got): boolean {
  if (status >= 400) return false;
  if (events.length === 0) return !/"status":"failed"|MALFORMED|UNEXPECTED|"OTHER"/.test(text);
  if (events.some(({ type, error }) => type === "error" || type === "response.failed" || error)) return false;
  return !/MALFORMED|UNEXPECTED|"OTHER"/.test(text);
}

const CUT: Script = {
  events: [chatChunk({ role: "assistant", content: "half a" }, ""), chatChunk({ content: "b" }, "")],
};
const EMPTY: Script = { events: [chatChunk({ role: "assistant", content: "" }, ""), "[DONE]"] };

/** The replies of vendors whose model wrote no valid call, whole. The words are those of the vendor. */
const BAD_CALLS: readonly (readonly [name: string, model: string, reply: Json, words: string])[] = [
  ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "OTHER"]
    .map((
      reason,
    ) =>
      [
        reason,
        MODELS.content,
        contentReply([], reason, reason === "OTHER" ? {} : { finishMessage: `Bad call: ${reason.length}` }),
        reason === "OTHER" ? "OTHER" : `Bad call: ${reason.length}`,
      ] as const
    ),
  ["malformed_tool_use", MODELS.converse, converseReply("malformed_tool_use"), "malformed_tool_use"],
  ["malformed_model_output", MODELS.converse, converseReply("malformed_model_output"), "malformed_model_output"],
];

function converseReply(stopReason: string): Json {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  return { output: { message: { role: "assistant", content: [] } }, stopReason, usage, metrics: { latencyMs: 1 } };
}

for (const isolates of [1, 2]) {
  Deno.test(`replies that failed look like failures to every caller, with ${isolates} threads`, async (t) => {
    const vendors = await startScriptedVendors(isolates);
    try {
      for (const caller of CALLERS) {
        await t.step(`a stream cut after chunks with finish_reason "" is an error in ${caller}`, async () => {
          const got = await vendors.ask(caller, MODELS.chat, CUT, { stream: true });
          assertStringIncludes(got.text, "half a");
          assert(!looksDone(got) && !/message_stop|response\.completed|"STOP"|\[DONE\]/.test(got.text), got.text);
        });

        await t.step(`a stream of nothing but its end mark is an error in ${caller}`, async () => {
          if (caller === "chat") return; // the frames pass as they are
          assert(!looksDone(await vendors.ask(caller, MODELS.chat, EMPTY, { stream: true })));
        });

        for (const [name, model, reply, words] of BAD_CALLS) {
          if (caller === "content" && model === MODELS.content) continue; // passes as it is
          await t.step(`${name} is a failure with the vendor's words in ${caller}`, async () => {
            const before = await accountMoney(vendors.gateway).latestCharge();
            const got = await vendors.ask(caller, model, JSON.stringify(reply));
            assert(!looksDone(got), got.text);
            if (caller === "content") return;
            assertStringIncludes(got.text, words);
            if (got.status !== 502) return assertEquals(got.json.status, "failed");
            assertEquals(await accountMoney(vendors.gateway).latestCharge(), before);
          });
          if (model !== MODELS.content) continue;
          await t.step(`${name} is a failure in a stream of ${caller}`, async () => {
            const got = await vendors.ask(caller, model, { events: [reply] }, { stream: true });
            assert(!looksDone(got) && got.text.includes(words), got.text);
          });
        }

        await t.step(`a failed response keeps its code and words in ${caller}`, async () => {
          const error = { code: "rate_limit_exceeded", message: "Slow down, please" };
          const failed = responsesReply([], { status: "failed", error });
          const got = await vendors.ask(caller, MODELS.responses, JSON.stringify(failed));
          assertStringIncludes(got.text, caller === "responses" ? "rate_limit_exceeded" : "Slow down, please");
          if (caller !== "responses") assertEquals(got.status, 429);
        });

        await t.step(`a choice that a filter withheld is no failure of the provider in ${caller}`, async () => {
          if (caller === "chat") return; // the bytes pass as they are
          const got = await vendors.ask(caller, MODELS.chat, chatReply({ finish_reason: "content_filter" }));
          assertEquals(got.status, 200, got.text);
          assertStringIncludes(got.text, FILTERED[caller]);
        });
      }
    } finally {
      await vendors.stop();
    }
  });
}

const WORDS = "It is fine.";
const WHOLE_MESSAGE = { message: { role: "assistant", content: WORDS }, finish_reason: "stop" };
const EVENTS = [chatChunk({ role: "assistant", content: "It is" }), chatChunk({ content: " fine." }, "stop"), "[DONE]"];

/** The text of a reply in any format, whole or streamed. */
function wordsIn({ json, events }: Got): string {
  if (json !== null) {
    return json.choices?.[0].message.content ?? json.content?.[0].text ?? json.candidates?.[0].content.parts[0].text ??
      json.output[0].content[0].text;
  }
  return events.map((event) =>
    event.choices?.[0]?.delta?.content ?? event.delta?.text ??
      (event.type === "response.output_text.delta" ? event.delta : "") +
        (event.candidates?.[0]?.content?.parts?.map(({ text }: Json) => text ?? "").join("") ?? "")
  ).join("");
}

Deno.test("a reply in another framing than was asked for is read for what it is", async (t) => {
  const vendors = await startScriptedVendors();
  try {
    for (const caller of CALLERS) {
      await t.step(`a whole reply to a stream, for ${caller}`, async () => {
        const got = await vendors.ask(caller, MODELS.chat, chatReply(WHOLE_MESSAGE), { stream: true });
        assertEquals([got.status, wordsIn(got), looksDone(got)], [200, WORDS, true], got.text);
        assert(got.events.length > 0, got.text);
      });
      await t.step(`a stream to a whole request, for ${caller}`, async () => {
        const got = await vendors.ask(caller, MODELS.chat, { events: EVENTS });
        assertEquals([got.status, wordsIn(got)], [200, WORDS], got.text);
        assert(got.json !== null);
      });
      for (const mediaType of ["application/json", "text/plain", "application/octet-stream"]) {
        await t.step(`a stream as ${mediaType}, for ${caller}`, async () => {
          const got = await vendors.ask(caller, MODELS.chat, { events: EVENTS, mediaType }, { stream: true });
          assertEquals([got.status, wordsIn(got), looksDone(got)], [200, WORDS, true], got.text);
        });
      }
      await t.step(`a stream that was cut is no whole reply, for ${caller}`, async () => {
        const got = await vendors.ask(caller, MODELS.chat, { events: EVENTS.slice(0, 1) });
        assertEquals(got.status, 502, got.text);
      });
      await t.step(`a page is no reply, for ${caller}`, async () => {
        const page = { events: ["<html>"], mediaType: "text/html" };
        for (const stream of [false, true]) {
          assertEquals((await vendors.ask(caller, MODELS.chat, page, { stream })).status, 502);
        }
      });
    }
  } finally {
    await vendors.stop();
  }
});

/** How each format says that a filter withheld the reply. */
const FILTERED: Readonly<Record<Exclude<CallerFormat, "chat">, string>> = {
  responses: '"reason":"content_filter"',
  messages: '"stop_reason":"refusal"',
  content: '"finishReason":"SAFETY"',
};
