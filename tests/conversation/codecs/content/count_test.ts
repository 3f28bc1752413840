import { assertEquals, assertThrows } from "@std/assert";
import {
  readCount,
  readCountRequest,
  writeCount,
  writeCountRequest,
} from "../../../../src/conversation/codecs/content/mod.ts";
import { GatewayError } from "../../../../src/platform/lib/basics/gateway_error.ts";
import { targetOf } from "../../../support/conversations.ts";

const CONTENTS = [{ role: "user", parts: [{ text: "hi" }] }];

Deno.test("readCountRequest reads both shapes, and takes the model from the path", () => {
  const plain = readCountRequest({ model: "google/a", contents: CONTENTS });
  const inner = { model: "models/other", contents: CONTENTS };
  assertEquals(readCountRequest({ model: "google/a", generateContentRequest: inner }), plain);
  assertEquals(readCountRequest({ model: "google/a", generate_content_request: inner }), plain);
  assertEquals(plain.model, "google/a");
});

Deno.test("readCountRequest rejects a request without contents", () => {
  for (const body of [{}, { generateContentRequest: 1 }, { generateContentRequest: {} }]) {
    assertThrows(() => readCountRequest({ model: "google/a", ...body }), GatewayError);
  }
});

Deno.test("writeCountRequest counts the whole request, under the vendor's name of the model", () => {
  const conversation = readCountRequest({
    model: "google/a",
    contents: CONTENTS,
    systemInstruction: { parts: [{ text: "be kind" }] },
  });
  const target = targetOf({ model: "gemini-3-pro", provider: "google" });
  assertEquals(writeCountRequest(conversation, target), {
    body: {
      generateContentRequest: {
        model: "models/gemini-3-pro",
        contents: CONTENTS,
        systemInstruction: { parts: [{ text: "be kind" }] },
      },
    },
    droppedFields: [],
  });
  const named = writeCountRequest(conversation, { ...target, model: "tunedModels/x" });
  assertEquals((named.body.generateContentRequest as { model: string }).model, "tunedModels/x");
});

Deno.test("writeCount and readCount are inverses, and readCount throws on anything else", () => {
  assertEquals(readCount(writeCount(42)), 42);
  assertEquals(readCount({ totalTokens: 7, promptTokensDetails: [] }), 7);
  assertEquals(readCount({ totalTokens: -7 }), 0);
  for (const body of [null, {}, { error: {} }, { totalTokens: "7" }]) assertThrows(() => readCount(body), TypeError);
});
