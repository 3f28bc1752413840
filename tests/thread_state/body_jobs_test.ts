import { assertEquals, assertRejects } from "@std/assert";
import { MessageChannel } from "node:worker_threads";
import { createMeter } from "../../src/money/billing/meter/create_meter.ts";
import { runBodyJob } from "../../src/platform/http/bodies/body_job.ts";
import type { BodyOutcome } from "../../src/platform/http/bodies/body_reader.ts";
import { systemClock } from "../../src/platform/lib/basics/clock.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { silentLog } from "../../src/platform/lib/basics/log.ts";
import { EmbeddedMedia } from "../../src/platform/lib/media/sent_media.ts";
import { BoundedMemory } from "../../src/services/texts/memory/bounded_memory.ts";
import { RemoteState } from "../../src/threads/state/remote_state.ts";
import { SharedState } from "../../src/threads/state/shared_state.ts";
import { createCatalog } from "../../src/vendors/catalog/catalog.ts";
import { createCircuitBreaker } from "../../src/vendors/routing/circuit_breaker.ts";
import { openMemoryStore } from "../support/memory_store.ts";

Deno.test("a thread's large bodies are read where the main thread reads its own, and their buffers move", async () => {
  const clock = systemClock;
  const store = await openMemoryStore({ clock });
  const accounts: string[] = [];
  const { port1, port2 } = new MessageChannel();
  const remote: RemoteState = new RemoteState({
    post(message, transfer) {
      const sent = structuredClone(message, { transfer: [...transfer ?? []] });
      if (sent.type !== "question") shared.onMessage(sent);
    },
    flush() {},
    onWaiting() {},
  }, {
    results: port2,
    resultFlag: new SharedArrayBuffer(4),
    storeLimits: store.limits,
    storeTime: new SharedArrayBuffer(8),
  });
  const shared: SharedState = new SharedState({
    meter: createMeter({ store, clock, log: silentLog }),
    store,
    breaker: createCircuitBreaker({ clock }),
    catalog: createCatalog([]),
    reasoning: new BoundedMemory(clock),
    items: new BoundedMemory(clock),
    bodies: {
      async run(job, { accountId }) {
        accounts.push(accountId);
        return (await runBodyJob(job)).value as BodyOutcome;
      },
    },
    clock,
    log: silentLog,
  }, {
    result: (message, transfer) => remote.onResult(structuredClone(message, { transfer: [...transfer ?? []] })),
    overdrawn() {},
    requestOf: () => null,
    onIdle() {},
  });
  try {
    const content = new Uint8Array(3_000).fill(7);
    const uri = `data:image/png;base64,${content.toBase64()}`;
    const jobOf = (text: string) => {
      const { buffer } = new TextEncoder().encode(text);
      return { members: ["mask"], isBase64: true, buffer, maxValues: undefined, isHashed: false };
    };
    const job = jobOf(`{"mask":"${uri}"}`);
    const { body, bytes } = await remote.bodies.read(job, { accountId: "demo" });
    assertEquals(body, { mask: new EmbeddedMedia(content, true, uri.length) });
    assertEquals([bytes.length, job.buffer.detached], [uri.length + 11, true]);
    const refused = await assertRejects(() => remote.bodies.read(jobOf("{]"), { accountId: "acme" }), GatewayError);
    assertEquals([refused.code, accounts], ["invalid_request", ["demo", "acme"]]);
  } finally {
    port1.close();
    port2.close();
  }
});
