import { assertEquals } from "@std/assert";
import { systemClock } from "../../../src/platform/lib/basics/clock.ts";
import { startVideoGateway } from "../../support/video_gateway.ts";
import { untilSo } from "../../support/patience.ts";

let setBackMs = 0;
const gateway = await startVideoGateway({
  clock: { ...systemClock, now: () => Date.now() - setBackMs },
  limits: { vendor_polling: { first: 0.5, least: 0.5, most: 0.5, per_second: 1_000 } },
});

Deno.test("after the clock moves back by an hour waiting and new tasks end without delay", async () => {
  const running = await gateway.create();
  await untilSo(() => gateway.created().length !== 0);
  const refused = await gateway.create({ prompt: "A lighthouse [[fail 429 1]] [[queue 0]] [[run 0]]" });
  await untilSo(() => gateway.created().length !== 1);
  setBackMs = 3_600_000;
  const fresh = await gateway.create();
  for (const id of [running, fresh, refused]) {
    assertEquals((await gateway.until(id, "completed", "failed")).status, "completed");
  }
});

Deno.test({ name: "clock set back: the gateway stops", fn: () => gateway.stop(), sanitizeResources: false });
