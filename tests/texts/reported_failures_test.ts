import { assertEquals } from "@std/assert";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { requestOf, responseOf } from "./support.ts";
import { errorOf, textGatewayOf } from "./text_gateway.ts";

const MESSAGE = "The model is used too much at the moment";

/** What vendors and gateways before them send with the status 200, because they learned of the failure too late. */
const BODIES: readonly (readonly [CallerFormatName, object])[] = [
  ["chat", { error: { message: MESSAGE, code: 429 }, user_id: "user_1" }],
  ["chat", { id: "", choices: [], error: { message: MESSAGE, status_code: 429 } }],
  ["chat", { choices: null, error: { message: MESSAGE, code: "429" } }],
  ["chat", [{ error: { message: MESSAGE, code: 429 } }]],
  ["chat", {
    id: "",
    choices: null,
    usage: { total_tokens: 0, prompt_tokens: 0, completion_tokens: 0 },
    base_resp: { status_code: 1002, status_msg: MESSAGE },
  }],
  ["messages", [{ type: "error", error: { type: "rate_limit_error", message: MESSAGE } }]],
  ["responses", [{ error: { code: "rate_limit_exceeded", message: MESSAGE } }]],
  ["content", [{ error: { code: 429, message: MESSAGE, status: "RESOURCE_EXHAUSTED" } }]],
  ["messages", { type: "error", error: { type: "rate_limit_error", message: MESSAGE } }],
  ["messages", { error: { type: "rate_limit_error", message: MESSAGE } }],
  ["responses", { error: { code: "rate_limit_exceeded", message: MESSAGE } }],
  ["content", { error: { code: 429, message: MESSAGE, status: "RESOURCE_EXHAUSTED" } }],
];

for (const [vendor, body] of BODIES) {
  for (const caller of ["chat", "messages", "responses", "content"] as const) {
    for (const stream of [false, true]) {
      const what = `${stream ? "streamed" : "whole"} request of ${caller}`;
      Deno.test(`a failure that a vendor of ${vendor} reports with status 200 is one for a ${what}: ${JSON.stringify(body).slice(0, 24)}`, async () => {
        const { service, recorder } = textGatewayOf({
          providers: { one: [vendor, () => responseOf([JSON.stringify(body)], "application/json")] },
        });
        const error = await errorOf(service.handle(requestOf(caller, { stream })));
        assertEquals([error.code, error.status, error.message], ["rate_limited", 429, MESSAGE]);
        assertEquals([recorder.charges.length, recorder.releases], [0, 1]);
      });
    }
  }
}

Deno.test("another provider is tried after a failure that a vendor reports with status 200", async () => {
  const failed = () => responseOf([JSON.stringify({ error: { message: MESSAGE, code: 502 } })], "application/json");
  const { service, sent } = textGatewayOf({ providers: { one: ["chat", failed], two: ["chat", failed] } });
  await errorOf(service.handle(requestOf("chat")));
  assertEquals(sent.map(({ provider }) => provider), ["one", "two"]);
});
