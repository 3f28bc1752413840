import { assert, assertEquals } from "@std/assert";
import { textGatewayOf, wholeReply } from "./text_gateway.ts";
import { requestOf } from "./support.ts";
import { withVertexContents } from "../../src/vendors/upstreams/vertex/contents.ts";
import type { CallerFormatName } from "../../src/conversation/neutral/reasoning_signature.ts";
import { itemAt } from "../support/items.ts";
import { scanJson } from "../../src/platform/lib/json/json.ts";
import { parseWithExactValues } from "../../src/conversation/neutral/exact_values.ts";
import type { PassThroughRequest } from "../../src/conversation/contract/pass_through.ts";
import { objectOf } from "../../src/conversation/neutral/wire_value.ts";

/** No number of this language has these digits. */
const LONG = "2512292042121000001";
const MODEL = { pricing: {}, top_provider: { max_completion_tokens: 8000 } };
const SCHEMA = `{"anyOf":[{"type":"object","properties":{"a":{"type":"integer","maximum":${LONG}}}}]}`;

const exactOf = (text: string) => objectOf(parseWithExactValues(text)) ?? {};

/** Requests in which a value with a long number is edited, by what changes it. */
const EDITED: readonly (readonly [what: string, form: CallerFormatName, text: string])[] = [
  [
    "a placeholder for a signature",
    "content",
    `{"contents":[{"role":"user","parts":[{"text":"a"}]},
      {"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":${LONG}}}}]},
      {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"id":1}}}]}]}`,
  ],
  [
    "an enumeration with null",
    "content",
    `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[{"name":"f",
      "parametersJsonSchema":{"type":"object","properties":{"a":{"enum":[${LONG},null]}}}}]}]}`,
  ],
  [
    "alternatives at the top of a tool",
    "messages",
    `{"model":"acme/m","max_tokens":100,"messages":[{"role":"user","content":"a"}],
      "tools":[{"name":"f","input_schema":${SCHEMA}}]}`,
  ],
  [
    "names of properties",
    "messages",
    `{"model":"acme/m","max_tokens":100,"messages":[{"role":"user","content":"a"}],"tools":[{"name":"f",
      "input_schema":{"type":"object","properties":{"$top":{"type":"integer","maximum":${LONG}}}}}]}`,
  ],
];

for (const [what, form, text] of EDITED) {
  Deno.test(`numbers keep their digits where a request in ${form} is edited: ${what}`, async () => {
    const { service, sent } = textGatewayOf({ providers: { one: [form, wholeReply(form)] }, model: MODEL });
    await (await service.handle(requestOf(form, { text, exactOf: () => exactOf(text) }))).text();
    const { text: passed } = itemAt(sent, 0);
    assert(passed.includes(LONG), passed);
    assert(passed.replaceAll(/\s/g, "") !== text.replaceAll(/\s/g, ""), "the vendor gets something else");
  });
}

Deno.test("numbers keep their digits in contents to which a role is added for Vertex AI", () => {
  const text = `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"id":${LONG}}}}]}]}`;
  const bytes = new TextEncoder().encode(text);
  const body = exactOf(text);
  const request = { bytes, scan: scanJson(bytes), body, outlineText: text, wholeBody: () => body };
  const edited = withVertexContents(request as unknown as PassThroughRequest);
  assert(new TextDecoder().decode(edited.bytes).includes(LONG));
  assertEquals(JSON.stringify(edited.wholeBody()).includes(LONG), true);
});
