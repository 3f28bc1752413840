import { assertEquals, assertThrows } from "@std/assert";
import { readCachePatch, readCacheRequest } from "../../src/services/caches/request.ts";
import { bareModelName } from "../../src/platform/names/bare_model_name.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../src/platform/lib/json/json_object.ts";

const NOW = 1_800_000_000_000;
const CONTENTS = [{ role: "user", parts: [{ text: "The sky is blue" }] }];

function refusedField(body: JsonObject): string | undefined {
  const error = assertThrows(() => readCacheRequest(body, NOW), GatewayError);
  assertEquals(error.code, "invalid_request");
  return error.details.field;
}

Deno.test("readCacheRequest() reads both spellings and drops unknown fields", () => {
  const tools = [{ function_declarations: [{ name: "look" }] }];
  const body = {
    model: "models/acme/m",
    contents: CONTENTS,
    system_instruction: { parts: [{ text: "Be brief" }] },
    tools,
    tool_config: { function_calling_config: { mode: "AUTO" } },
    display_name: "sky",
    ttl: "700s",
    name: "cachedContents/mine",
    kmsKeyName: "k",
  };
  assertEquals(readCacheRequest(body, NOW), {
    modelName: "models/acme/m",
    content: {
      contents: CONTENTS,
      systemInstruction: { parts: [{ text: "Be brief" }] },
      tools,
      toolConfig: { function_calling_config: { mode: "AUTO" } },
    },
    displayName: "sky",
    expiresAt: NOW + 700_000,
  });
  assertEquals(bareModelName("models/acme/m"), "acme/m");
  assertEquals(bareModelName("acme/m"), "acme/m");
});

Deno.test("readCacheRequest() rejects a missing model, missing or empty contents, and a long display name, naming the field", () => {
  const good = { model: "acme/m", contents: CONTENTS };
  assertEquals(refusedField({ contents: CONTENTS }), "model");
  assertEquals(refusedField({ ...good, model: "" }), "model");
  assertEquals(refusedField({ ...good, model: 7 }), "model");
  assertEquals(refusedField({ model: "acme/m" }), "contents");
  assertEquals(refusedField({ ...good, contents: [] }), "contents");
  assertEquals(refusedField({ ...good, contents: "text" }), "contents");
  assertEquals(refusedField({ ...good, display_name: "x".repeat(129) }), "display_name");
  assertEquals(refusedField({ ...good, displayName: 7 }), "displayName");
  assertEquals(refusedField({ ...good, system_instruction: 7 }), "system_instruction");
  assertEquals(refusedField({ ...good, ttl: "10m" }), "ttl");
  assertEquals(readCacheRequest({ ...good, displayName: "😀".repeat(128) }, NOW).displayName?.length, 256);
});

Deno.test("readCachePatch() changes the expiry and rejects every other field as immutable", () => {
  assertEquals(readCachePatch({ ttl: "900s" }, null, NOW), NOW + 900_000);
  assertEquals(readCachePatch({ ttl: "900s", name: "cachedContents/x" }, "ttl", NOW), NOW + 900_000);
  const immutable = { model: "acme/m", display_name: "x", contents: CONTENTS, systemInstruction: {}, tools: [] };
  for (const [field, value] of Object.entries(immutable)) {
    const patch = () => readCachePatch({ ttl: "900s", [field]: value }, null, NOW);
    const { code, details } = assertThrows(patch, GatewayError);
    assertEquals([code, details.field], ["invalid_request", field]);
  }
  assertThrows(() => readCachePatch({}, null, NOW), GatewayError, "expected ttl or expireTime");
  assertThrows(() => readCachePatch({ ttl: "900s" }, "ttl,displayName", NOW), GatewayError, "updateMask");
});
