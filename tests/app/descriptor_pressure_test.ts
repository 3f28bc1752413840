import { assertEquals } from "@std/assert";
import { DescriptorPressure } from "../../src/entry/app/descriptor_pressure.ts";
import { type LogFields, silentLog } from "../../src/platform/lib/basics/log.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** Looks once a second at the given shares of 1,000 descriptors. */
async function eventsOf(shares: readonly number[]): Promise<string[]> {
  const clock = new ManualClock();
  const events: string[] = [];
  let second = -1;
  const pressure = new DescriptorPressure({
    clock,
    log: {
      ...silentLog,
      warn: (event: string, { count }: LogFields = {}) => void events.push(`${second} ${event} ${count}`),
    },
    onTight: (isTight) => void events.push(`${second} ${isTight ? "tight" : "free"}`),
    shed: () => events.push(`${second} shed`) > 0,
    use: { measure: () => ({ used: (shares[second] ?? 0) * 1_000, share: shares[second] ?? 0 }) },
  });
  await pressure.start();
  for (second = 0; second < shares.length; second++) clock.advance(1_000);
  pressure.stop();
  return events;
}

Deno.test("replies close their connections from 80 % of the descriptors on, and no more below", async () => {
  assertEquals(await eventsOf([0.5, 0.79, 0.8, 0.85, 0.79, 0.1]), ["2 tight", "4 free"]);
});

Deno.test("connections without a request are closed from 90 % on, at most once in ten seconds", async () => {
  const shares = [0.5, 0.9, 0.3, 0.95, ...Array.from({ length: 8 }, () => 0.95), 0.2];
  assertEquals(await eventsOf(shares), [
    "1 tight",
    "1 shed",
    "2 connections_shed 600",
    "2 free",
    "3 tight",
    "11 shed",
    "12 connections_shed 750",
    "12 free",
  ]);
});
