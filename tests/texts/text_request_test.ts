import { assertEquals } from "@std/assert";
import { chat } from "../../src/conversation/codecs/chat/mod.ts";
import { CALLER_ENDPOINTS } from "../../src/platform/endpoints/callers.ts";
import type { Inbound } from "../../src/platform/http/request/inbound.ts";
import { jsonObjectOf } from "../../src/platform/http/bodies/json_body.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { UNLIMITED_MEMORY } from "../../src/platform/lib/process/memory_budget.ts";
import { textRequestOf } from "../../src/services/texts/request/text_request.ts";

Deno.test("textRequestOf() reads what it needs from the outline of a long body, which is not parsed whole", () => {
  const bytes = new TextEncoder().encode(JSON.stringify({
    model: "acme/one",
    messages: [{ role: "user", content: "long ".repeat(20_000) }],
    metadata: { session_id: "session-1" },
  }));
  const json = jsonObjectOf(bytes);
  const inbound: Inbound = {
    request: new Request("http://gateway/v1/chat/completions", { method: "POST" }),
    method: "POST",
    path: CALLER_ENDPOINTS.createChatCompletion.path,
    endpoint: CALLER_ENDPOINTS.createChatCompletion,
    query: "",
    params: {},
    requestId: "req_1",
    receivedAt: 0,
    remote: "127.0.0.1",
    memory: UNLIMITED_MEMORY.lease(),
    record: unobservedRecord(),
  };
  const credential = { accountId: "demo", keyId: "key", limits: null, capture: null };
  const unparsed = {
    ...json,
    bytes: json.bytes,
    outline: json.outline,
    outlineText: json.outlineText,
    scan: json.scan,
    wholeText: (text: string) => json.wholeText(text),
    get body(): never {
      throw new Error("The whole body was parsed");
    },
  };
  const { outline: body } = json;
  textRequestOf(inbound, credential, unparsed, {
    format: chat.caller,
    body,
    model: "acme/one",
    stream: false,
    bodyPin: null,
  });
  assertEquals(inbound.record.session, "session-1");
});
