import { assertEquals } from "@std/assert";
import { failuresAfter } from "../../src/services/batches/settling/failures.ts";
import { openBatchStage } from "./stage.ts";

function reply(status: number, body: unknown) {
  return { status, body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)) };
}

Deno.test("failuresAfter() counts failures by the code of their error in any format", () => {
  const first = failuresAfter({}, [
    reply(429, { error: { code: "rate_limited", type: "rate_limit_error" } }),
    reply(400, { type: "error", error: { type: "invalid_request_error", message: "No" } }),
    reply(400, { error: { code: 400, status: "INVALID_ARGUMENT" } }),
    reply(502, "<html>"),
    reply(500, { error: { code: "a text of a vendor, with spaces" } }),
  ]);
  const counts = { rate_limited: 1, invalid_request_error: 1, INVALID_ARGUMENT: 1, 502: 1, 500: 1 };
  assertEquals(first, counts);
  assertEquals(failuresAfter({ failures: first }, [reply(502, "")]), { ...counts, 502: 2 });
});

Deno.test("failuresAfter() counts any number of codes in a bounded record", () => {
  const replies = Array.from({ length: 100 }, (_, n) => reply(400, { error: { code: `code_${n}` } }));
  const failures = failuresAfter({}, replies);
  assertEquals([Object.keys(failures).length, failures.other], [21, 80]);
});

Deno.test("batches: results may be larger than a file that a caller stores", async () => {
  await using at = await openBatchStage((text) => text === "bad" ? { status: 400 } : {});
  const { stored } = at.batches.parts;
  const write = stored.write.bind(stored);
  const limits: (number | undefined)[] = [];
  stored.write = (source, capBytes) => {
    limits.push(capBytes);
    return write(source, capBytes);
  };
  const id = await at.create(["good", "bad"]);
  await at.run();
  const { status, failures } = await at.read(id);
  assertEquals([status, failures, limits], ["completed", { 400: 1 }, [Infinity, Infinity]]);
});
