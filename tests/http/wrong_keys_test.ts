import { assertEquals, assertRejects } from "@std/assert";
import { WrongKeys } from "../../src/platform/http/wrong_keys.ts";
import { GatewayError } from "../../src/platform/lib/basics/gateway_error.ts";
import { ManualClock } from "../support/manual_clock.ts";

const ERROR = new GatewayError("invalid_api_key", "Cannot accept the API key: it is invalid");

/** Sends a wrong key; returns its error and the delay, by moving the clock in steps of 100 ms. */
async function delayOf(wrongKeys: WrongKeys, clock: ManualClock, address: string): Promise<[GatewayError, number]> {
  const from = clock.monotonicMs();
  let error: GatewayError | null = null;
  const refused = wrongKeys.refuse(address, ERROR).catch((failure) => void (error = failure));
  for (;;) {
    await Promise.resolve().then(() => {}).then(() => {});
    if (error !== null) break;
    clock.advance(100);
  }
  await refused;
  return [error, clock.monotonicMs() - from];
}

async function delaysOf(wrongKeys: WrongKeys, clock: ManualClock, address: string, count: number): Promise<number[]> {
  const delays: number[] = [];
  for (let n = 0; n < count; n++) {
    const [error, delay] = await delayOf(wrongKeys, clock, address);
    assertEquals(error, ERROR);
    delays.push(delay);
  }
  return delays;
}

Deno.test("ten wrong keys are answered at once, the next ones later and later, by at most five seconds", async () => {
  const clock = new ManualClock();
  const wrongKeys = new WrongKeys(clock);
  const delays = await delaysOf(wrongKeys, clock, "192.0.2.1", 18);
  assertEquals(delays.slice(0, 10), Array(10).fill(0));
  assertEquals(delays.slice(10), [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  assertEquals(await delaysOf(wrongKeys, clock, "192.0.2.2", 1), [0], "another address is not affected");
  clock.advance(15 * 60_000);
  assertEquals(await delaysOf(wrongKeys, clock, "192.0.2.1", 1), [0], "failures expire");
});

Deno.test("the addresses of one IPv6 network of 64 bits are one client", async () => {
  const clock = new ManualClock();
  const wrongKeys = new WrongKeys(clock);
  for (let n = 0; n < 10; n++) await delaysOf(wrongKeys, clock, `2001:db8:1:2::${n + 1}`, 1);
  assertEquals(await delaysOf(wrongKeys, clock, "2001:db8:1:2:ffff::1", 1), [100]);
  assertEquals(await delaysOf(wrongKeys, clock, "2001:db8:1:3::1", 1), [0]);
  assertEquals(await delaysOf(wrongKeys, clock, "::ffff:192.0.2.1", 1), [0]);
});

Deno.test("of one client at most twenty answers are delayed; further wrong keys get 429 with Retry-After", async () => {
  const clock = new ManualClock();
  const wrongKeys = new WrongKeys(clock);
  await delaysOf(wrongKeys, clock, "192.0.2.1", 20);
  const waiting = Array.from({ length: 20 }, () => wrongKeys.refuse("192.0.2.1", ERROR).catch((error) => error));
  const refused = await assertRejects(() => wrongKeys.refuse("192.0.2.1", ERROR), GatewayError);
  assertEquals([refused.code, refused.status, refused.details.retryAfterSeconds], ["rate_limited", 429, 5]);
  assertEquals(await delaysOf(wrongKeys, clock, "192.0.2.2", 1), [0]);
  clock.advance(5_000);
  assertEquals(await Promise.all(waiting), Array(20).fill(ERROR));
  assertEquals(clock.waiting, 0);
});

Deno.test("the number of clients in memory is bounded, and the one with the oldest failure is dropped", async () => {
  const clock = new ManualClock();
  const wrongKeys = new WrongKeys(clock);
  await delaysOf(wrongKeys, clock, "192.0.2.1", 11);
  for (let n = 0; n < 10_000; n++) {
    await wrongKeys.refuse(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, ERROR).catch(() => {});
  }
  assertEquals(await delaysOf(wrongKeys, clock, "192.0.2.1", 1), [0]);
});

Deno.test("WrongKeys.note() counts without a delay, and a client is slowed until its oldest failures expire", () => {
  const clock = new ManualClock();
  const wrongKeys = new WrongKeys(clock);
  for (let n = 1; n <= 10; n++) {
    assertEquals(wrongKeys.isSlowed("192.0.2.1"), false);
    wrongKeys.note("192.0.2.1");
  }
  assertEquals([wrongKeys.isSlowed("192.0.2.1"), wrongKeys.isSlowed("192.0.2.2"), clock.waiting], [true, false, 0]);
  clock.advance(30_000);
  assertEquals(wrongKeys.isSlowed("192.0.2.1"), false);
});
