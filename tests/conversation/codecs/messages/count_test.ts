import { assertEquals, assertThrows } from "@std/assert";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import {
  checkCountRequest,
  readCount,
  readCountRequest,
  writeCount,
  writeCountRequest,
} from "../../../../src/conversation/codecs/messages/mod.ts";
import { NO_SAMPLING } from "../../../../src/conversation/neutral/conversation.ts";
import { bodyWith, conversationWith, LOOK, targetWith, textPart } from "./samples.ts";

Deno.test("readCountRequest() requires no max_tokens, and checks the rest", () => {
  const { max_tokens: _, ...body } = bodyWith();
  checkCountRequest(body);
  const conversation = readCountRequest(body);
  assertEquals([conversation.maxOutputTokens, conversation.stream], [null, false]);
  assertEquals(conversation.turns, [{ role: "user", parts: [textPart("Hello")] }]);
  assertThrows(() => checkCountRequest({ ...body, messages: [] }), GatewayError, "messages");
  assertThrows(() => readCountRequest({ ...body, messages: [] }), GatewayError, "messages");
});

Deno.test("writeCountRequest() sends only counted fields", () => {
  const { body } = writeCountRequest(
    conversationWith({
      tools: [LOOK],
      stream: true,
      user: "u",
      sampling: { ...NO_SAMPLING, temperature: 0.5, stop: ["END"] },
      reasoning: { effort: "high", budgetTokens: null, visible: null },
    }),
    targetWith(),
  );
  assertEquals(Object.keys(body).sort(), ["messages", "model", "output_config", "thinking", "tools"]);
});

Deno.test("readCount() is the inverse of writeCount() and throws for other replies", () => {
  assertEquals(readCount(writeCount(641)), 641);
  for (const body of [null, {}, { input_tokens: "5" }, "x"]) assertThrows(() => readCount(body), TypeError);
});
