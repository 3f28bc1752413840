import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Charge } from "../../src/money/billing/meter/meter.ts";
import { Settlement } from "../../src/services/calls/settlement.ts";
import { OpenStreams } from "../../src/services/calls/stream_relay.ts";
import { unobservedRecord } from "../support/unobserved_record.ts";
import { CallerLink } from "../../src/services/images/caller_link.ts";
import { ImageMemory } from "../../src/services/images/image_memory.ts";
import { readGeneration } from "../../src/services/images/generate.ts";
import { type ImageStep, imageStreamResponse } from "../../src/services/images/stream.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { readModel } from "../../src/vendors/catalog/model.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { MemoryBudget } from "../../src/platform/lib/process/memory_budget.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { imageModel } from "./image_gateway.ts";

const model = readModel(imageModel("a/b", {}, ["p"]));
const PARTIAL: ImageStep = { type: "partial", index: 0, data: "AAAA", mediaType: null };
const CONSUMPTION = { textTokens: 5, imageTokens: 0, cachedTokens: 0, outputTokens: 272, outputTextTokens: 0 };
const COMPLETED: ImageStep = {
  type: "completed",
  work: {
    svg: null,
    outcome: { createdAt: 1, images: [], size: null, quality: null, consumption: CONSUMPTION },
    images: [],
    charged: 0,
    look: { sizes: [], quality: null },
    consumption: CONSUMPTION,
  },
};

/** A stream that has delivered one partial image; `next` returns the vendor's next step. */
async function opened(next: (link: CallerLink, memory: ImageMemory) => Promise<ImageStep | null>) {
  const caller = new AbortController();
  const budget = new MemoryBudget(1_000_000_000);
  const lease = budget.lease("a");
  const memory = new ImageMemory(lease, 1);
  memory.beginAttempt();
  const clock = new ManualClock();
  const charges: Charge[] = [];
  let released = 0;
  let overdraw = () => {};
  const admission = {
    charge: (charge: Charge) => Promise.resolve(void charges.push(charge)),
    release: () => void released++,
    reserved: { amount: 0n, outputLimit: null },
    onOverdrawn: (listener: () => void) => void (overdraw = listener),
  };
  const parts = { meter: { invalidate() {} }, clock, log: silentLog };
  const measure = { prompt: "a fox of twenty sig.", quality: "low", size: null, count: 1, given: 0 };
  const facts = {
    kind: "image",
    requestId: "r",
    accountId: "a",
    keyId: "key_1",
    receivedAt: 0,
    record: unobservedRecord(),
    model,
  } as const;
  const link = new CallerLink(caller.signal);
  const answer = imageStreamResponse({
    request: readGeneration(
      { model: "a/b", prompt: "a fox", quality: "low", stream: true, partial_images: 1 },
      createCatalog([model]),
    ),
    provider: "p",
    first: PARTIAL,
    rest: {
      async next() {
        const step = await next(link, memory);
        return step === null ? { done: true, value: undefined } : { done: false, value: step };
      },
    },
    bill: { settlement: new Settlement(facts, admission, parts), measure },
    link,
    memory: lease,
    onEnd: memory.outliveRequest(),
    writeError: (error) => ({ error: error.code }),
  }, { clock, openStreams: new OpenStreams() });
  const reader = answer.body!.getReader();
  await reader.read();
  const leave = () => {
    caller.abort();
    lease.end();
    return reader.cancel();
  };
  return { clock, charges, link, budget, reader, leave, overdraw: () => overdraw(), released: () => released };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("a vendor stream is read to its end after its caller disconnects, and charged by the reported usage", async () => {
  const { charges, leave, link } = await opened(() => Promise.resolve(COMPLETED));
  await leave();
  await settled();
  assertEquals(charges.map(({ amount, usage }) => [amount, usage?.outputTokens]), [[27_250_000n, 272]]);
  assertEquals(link.signal.aborted, false);
});

Deno.test("a vendor that continues for half a minute after its caller disconnects is cancelled, and the delivered part charged", async () => {
  const { charges, leave, clock } = await opened((link) =>
    new Promise((_, reject) => link.signal.addEventListener("abort", () => reject(new Error("cut"))))
  );
  await leave();
  await settled();
  clock.advance(29_999);
  await settled();
  assertEquals(charges.length, 0);
  clock.advance(1);
  await settled();
  // 100 tokens for the partial image, 5 for the prompt
  assertEquals(charges.map(({ amount }) => amount), [10_050_000n]);
});

Deno.test("an image that arrives after its caller disconnects has memory reserved, and releases it", async () => {
  const { charges, leave, budget } = await opened((_, memory) => {
    memory.reserveReply(20_000_000);
    return Promise.resolve(COMPLETED);
  });
  assertEquals(budget.inUse, 8_000_000);
  await leave();
  await settled();
  assertEquals(charges.map(({ amount }) => amount), [27_250_000n]);
  assertEquals(budget.inUse, 0);
});

Deno.test("a stream releases its memory at its end, and when it breaks", async () => {
  for (const next of [() => Promise.resolve(COMPLETED), () => Promise.reject(new Error("cut"))]) {
    const { reader, budget } = await opened(next);
    while (!(await reader.read()).done);
    assertEquals(budget.inUse, 0);
  }
});

Deno.test("a stream of an account that is overdrawn too far ends with an error, and the delivered part is charged", async () => {
  const { charges, reader, overdraw, released } = await opened((link) =>
    new Promise((_, reject) => link.signal.addEventListener("abort", () => reject(new Error("cut"))))
  );
  overdraw();
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    text += new TextDecoder().decode(read.value);
  }
  assertStringIncludes(text, "insufficient_credits");
  // 100 tokens for the partial image, 5 for the prompt
  assertEquals([charges.map(({ amount }) => amount), released()], [[10_050_000n], 0]);
});
