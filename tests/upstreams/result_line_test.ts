import { assert, assertEquals, assertRejects } from "@std/assert";
import { anthropicBatches } from "../../src/vendors/upstreams/anthropic/batches.ts";
import { googleBatches } from "../../src/vendors/upstreams/google/batches.ts";
import { openaiBatches } from "../../src/vendors/upstreams/openai/batches.ts";
import { readResultLine } from "../../src/vendors/upstreams/shared/result_line.ts";
import { withVendor } from "./vendor.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NAMES = { reply: ["response", "body"], facts: new Set(["custom_id", "status_code"]) };
const VECTOR = `[${"0.123456789,".repeat(400_000)}1]`;

Deno.test("a long line of results: only what is around its reply is parsed, and others work meanwhile", async () => {
  const body = `{"data":${VECTOR}}`;
  const bytes = encoder.encode(`{"custom_id":"a","usage":${VECTOR},"response":{"status_code":200,"body":${body}}}`);
  let turns = 0;
  const { around, memberAt } = await readResultLine(bytes, NAMES, () => Promise.resolve(void turns++));
  assertEquals(around, { custom_id: "a", response: { status_code: 200 } });
  assert(turns >= Math.floor(bytes.length / 1_100_000), `There were ${turns} turns`);
  assertEquals(decoder.decode(memberAt(["response", "body"]) ?? undefined), body);
  assertEquals(memberAt(["response"]), null);
});

Deno.test("a long line of results: what is no object or ends early is refused", async () => {
  const long = "x".repeat(100_000);
  const texts = [`["${long}"]`, `"${long}"`, `{"a":"${long}"`, `{"a":"${long}"} 1`, `{"custom_id":"${long}"}`];
  for (const text of texts) await assertRejects(() => readResultLine(encoder.encode(text), NAMES), SyntaxError);
});

Deno.test("a long line of results is read like a short one, for each vendor with batches", async () => {
  const makers = { openai: openaiBatches, anthropic: anthropicBatches, google: googleBatches };
  const bodyOf = (text: string) => ({ text, error: { type: "x" } });
  const cases = [
    ["openai", (text: string) => ({ custom_id: "a", response: { status_code: 200, body: bodyOf(text) }, error: null })],
    ["anthropic", (text: string) => ({ custom_id: "a", result: { type: "succeeded", message: bodyOf(text) } })],
    ["google", (text: string) => ({ response: bodyOf(text), key: "a" })],
  ] as const;
  for (const [kind, lineOf] of cases) {
    await withVendor(kind, [], async ({ outbound }) => {
      const batches = makers[kind](outbound);
      for (const text of ["short", "long".repeat(50_000)]) {
        const result = await batches.readResult(encoder.encode(JSON.stringify(lineOf(text))));
        assert(result !== null && "status" in result);
        assertEquals([result.id, result.status, JSON.parse(decoder.decode(result.body))], ["a", 200, bodyOf(text)]);
      }
    });
  }
});
