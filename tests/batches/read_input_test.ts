import { assertEquals, assertRejects } from "@std/assert";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { DEFAULT_LINES } from "../../src/services/batches/lines/default_lines.ts";
import { InputReader, InvalidInputError } from "../../src/services/batches/read_input.ts";
import { openBatchStage } from "./stage.ts";

const encoder = new TextEncoder();

/** The errors of lines that are read; empty if they are accepted. */
async function errorsOf(chunks: Iterable<string>) {
  const credential = { keyId: "k", accountId: "demo", limits: null, capture: null };
  const reader = new InputReader({
    endpoint: "/v1/embeddings",
    credential,
    runner: { estimate: () => Promise.resolve({ part: 1n, route: null }) },
    format: DEFAULT_LINES,
    maxLineBytes: 2_000_000,
  });
  async function* sent(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield await Promise.resolve(encoder.encode(chunk));
  }
  const drain = async () => {
    for await (const _line of reader.stored(sent()));
  };
  return (await assertRejects(drain, InvalidInputError)).errors;
}

Deno.test("InputReader ends with a file that has only line feeds, long before its end", async () => {
  let chunks = 0;
  const feeds = function* () {
    while (chunks < 1_000) {
      chunks++;
      yield "\n".repeat(10_000);
    }
  };
  const [error] = await errorsOf(feeds());
  assertEquals([error?.code, chunks < 10], ["too_many_tasks", true], String(chunks));
});

Deno.test("InputReader refuses a line with more objects than can be parsed beside other work", async () => {
  const lists = "[],".repeat(20_001);
  const [error] = await errorsOf([`{"custom_id": "a", "body": {"model": "m", "x": [${lists}1]}}\n`]);
  assertEquals([error?.code, error?.line], ["invalid_request", 1]);
});

Deno.test("batches: mistakes that repeat long texts fit into the record of a failed batch", async () => {
  await using at = await openBatchStage(() => ({}));
  const id = await at.create(Array(102).fill("語".repeat(512)));
  const { status, errors } = await at.read(id);
  assertEquals([status, errors.length, errors[0]?.code], ["failed", 100, "duplicate_custom_id"]);
});

Deno.test("batches: a create whose record could outgrow the store is refused", async () => {
  await using at = await openBatchStage(() => ({}));
  const create = (more: object) => at.createWith(["one"], more);
  await assertRejects(() => create({ betas: "b".repeat(60_000) }), GatewayError, "anthropic-beta");
  await assertRejects(() => create({ protocol: "content", model: "m".repeat(60_000) }), GatewayError, "model");
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`語${n}`.repeat(10), "語".repeat(512)]));
  const failed = await at.createWith(Array(102).fill("語".repeat(512)), { metadata });
  assertEquals((await at.read(failed)).errors.length, 100);
});
