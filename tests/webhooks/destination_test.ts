import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { createDestinations, type DestinationOptions, type Passage } from "../../src/webhooks/destination.ts";

const never = new AbortController().signal;

function table(options: Partial<DestinationOptions> = {}) {
  const clock = { now: 1_000_000 };
  const destinations = createDestinations({ now: () => clock.now, random: () => 0, hungMs: 5_000, ...options });
  return { clock, destinations };
}

/** What happened to somebody who asked for a place, as far as it has. */
function asks(destinations: ReturnType<typeof createDestinations>, host: string, signal = never) {
  const asked: { passage: Passage | null } = { passage: null };
  void destinations.enter(host, signal).then((passage) => asked.passage = passage, () => {});
  return asked;
}

const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));
const countOf = (all: readonly { passage: Passage | null }[], granted: boolean | null) =>
  all.filter(({ passage }) => (passage?.granted ?? null) === granted).length;

Deno.test("a host gets twenty places, a line of a hundred, and sends the rest away", async () => {
  const { clock, destinations } = table();
  const all = Array.from({ length: 130 }, () => asks(destinations, "a.example"));
  await turn();
  assertEquals([countOf(all, true), countOf(all, null), countOf(all, false)], [20, 100, 10]);
  const times = all.flatMap(({ passage }) => passage?.granted === false ? [passage.untilMs - clock.now] : []);
  assertEquals(times.toSorted((a, b) => a - b), times, "they come back one after another");
  assert(times[0] >= 1_000);
  const other = asks(destinations, "b.example");
  await turn();
  assertEquals(other.passage, { granted: true });
});

Deno.test("whoever waits gets the place that falls free, in order", async () => {
  const { destinations } = table({ perHost: 1 });
  const all = Array.from({ length: 4 }, () => asks(destinations, "a.example"));
  for (let free = 1; free <= 4; free++) {
    await turn();
    assertEquals(all.map(({ passage }) => passage !== null), all.map((_, index) => index < free));
    destinations.leave("a.example", 10);
  }
});

Deno.test("hosts with a line take turns when places are short in all", async () => {
  const { destinations } = table({ inAll: 1 });
  const first = asks(destinations, "busy.example");
  const busy = Array.from({ length: 50 }, () => asks(destinations, "busy.example"));
  const calm = asks(destinations, "calm.example");
  await turn();
  assertEquals(first.passage, { granted: true });
  destinations.leave("busy.example", 10);
  await turn();
  destinations.leave("busy.example", 10);
  await turn();
  assertEquals([calm.passage, countOf(busy, true)], [{ granted: true }, 1]);
});

Deno.test("a host whose last three attempts hung is called by one at a time, until one ends soon", async () => {
  const { destinations } = table();
  const before = Array.from({ length: 3 }, () => asks(destinations, "dead.example"));
  await turn();
  assertEquals(countOf(before, true), 3);
  for (let hung = 0; hung < 3; hung++) destinations.leave("dead.example", 10_000);
  const after = Array.from({ length: 30 }, () => asks(destinations, "dead.example"));
  await turn();
  assertEquals([countOf(after, true), countOf(after, null), countOf(after, false)], [1, 5, 24]);
  destinations.leave("dead.example", 10_000);
  await turn();
  assertEquals(countOf(after, true), 2, "the next probe, alone");
  destinations.leave("dead.example", 50);
  await turn();
  assertEquals(countOf(after, true), 6, "it answers again: all who wait may go");
});

Deno.test("those sent away from a host that hangs come back at its pace, within ten minutes, not all at once", async () => {
  let seed = 0;
  const { clock, destinations } = table({ random: () => (seed = (seed + 0.618) % 1) });
  for (let hung = 0; hung < 20; hung++) {
    asks(destinations, "dead.example");
    await turn();
    destinations.leave("dead.example", 10_000);
  }
  const all = Array.from({ length: 2_000 }, () => asks(destinations, "dead.example"));
  await turn();
  const waits = all.flatMap(({ passage }) => passage?.granted === false ? [passage.untilMs - clock.now] : []);
  assertGreater(waits.length, 1_990);
  assert(waits.every((wait) => wait >= 1_000 && wait <= 600_000));
  const perMinute = Array.from(
    { length: 11 },
    (_, minute) => waits.filter((wait) => Math.floor(wait / 60_000) === minute),
  );
  assert(perMinute.every((of) => of.length < 600), perMinute.map((of) => of.length).join(" "));
});

Deno.test("an attempt that did not come to an end says nothing of its host", async () => {
  const { destinations } = table();
  for (let n = 0; n < 5; n++) {
    await destinations.enter("a.example", never);
    destinations.leave("a.example", null);
  }
  const all = Array.from({ length: 20 }, () => asks(destinations, "a.example"));
  await turn();
  assertEquals(countOf(all, true), 20);
});

Deno.test("who is called off while waiting leaves the line", async () => {
  const { destinations } = table({ perHost: 1 });
  await destinations.enter("a.example", never);
  const giveUp = new AbortController();
  const waiting = destinations.enter("a.example", giveUp.signal);
  const behind = asks(destinations, "a.example");
  giveUp.abort(new Error("drained"));
  await assertRejects(() => waiting, Error, "drained");
  await assertRejects(() => destinations.enter("a.example", giveUp.signal), Error, "drained");
  destinations.leave("a.example", 1);
  await turn();
  assertEquals(behind.passage, { granted: true });
});

Deno.test("at the end everybody who waits, and who comes later, is sent away to come back at once", async () => {
  const { clock, destinations } = table({ perHost: 1 });
  await destinations.enter("a.example", never);
  const waiting = asks(destinations, "a.example");
  destinations.close();
  const later = asks(destinations, "b.example");
  await turn();
  const now = { granted: false, untilMs: clock.now } as const;
  assertEquals([waiting.passage, later.passage], [now, now]);
});
