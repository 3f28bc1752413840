import { assertEquals } from "@std/assert";
import { PollPace } from "../../src/services/videos/polling/poll_pace.ts";
import { PollQueue } from "../../src/services/videos/polling/poll_queue.ts";

interface Item {
  readonly account: string;
  readonly name: string;
}

const item = (account: string, name: string): Item => ({ account, name });
const namesOf = (items: readonly Item[]) => items.map(({ name }) => name);

Deno.test("PollQueue returns due items in order of time and the time of the next one", () => {
  const queue = new PollQueue<Item>();
  const times = [50, 10, 40, 20, 30, 60, 15];
  for (const at of times) queue.add(item("a", String(at)), at);
  assertEquals(queue.nextAt, 10);
  assertEquals(namesOf(queue.take(30, 10, 0)), ["10", "15", "20", "30"]);
  assertEquals(queue.nextAt, 40);
  assertEquals(namesOf(queue.take(100, 10, 0)), ["40", "50", "60"]);
  assertEquals(queue.nextAt, Infinity);
});

Deno.test("PollQueue serves accounts in turn if not all due items fit", () => {
  const queue = new PollQueue<Item>();
  for (let n = 0; n < 1_000; n++) queue.add(item("busy", `b${n}`), n / 1_000);
  queue.add(item("small", "s0"), 5);
  queue.add(item("other", "o0"), 6);
  assertEquals(namesOf(queue.take(10, 4, 0)), ["b0", "s0", "o0", "b1"]);
  assertEquals(queue.nextAt, -Infinity);
  assertEquals(queue.take(10, 2_000, 0).length, 998);
});

Deno.test("PollQueue adds items that are due soon to due ones, but never returns them alone", () => {
  const queue = new PollQueue<Item>();
  for (const at of [10, 12, 14, 30]) queue.add(item("a", String(at)), at);
  assertEquals(queue.take(9, 10, 5), []);
  assertEquals(namesOf(queue.take(10, 10, 5)), ["10", "12", "14"]);
});

Deno.test("PollQueue moves an item that is added again and drops one that is removed", () => {
  const queue = new PollQueue<Item>();
  const items = Array.from({ length: 300 }, (_, n) => item("a", String(n)));
  for (const [n, each] of items.entries()) queue.add(each, n);
  for (const each of items) queue.add(each, 1_000); // stale entries must not count
  assertEquals(queue.take(999, 1_000, 0), []);
  for (const each of items.slice(2)) queue.remove(each);
  assertEquals(namesOf(queue.take(1_000, 1_000, 0)).toSorted(), ["0", "1"]);
});

Deno.test("PollQueue puts urgent items before the others of their account", () => {
  const queue = new PollQueue<Item>();
  for (let n = 0; n < 3; n++) queue.add(item("a", `a${n}`), n);
  assertEquals(namesOf(queue.take(10, 1, 0)), ["a0"]);
  queue.add(item("a", "now"), 10, true);
  assertEquals(namesOf(queue.take(10, 1, 0)), ["now"]);
});

Deno.test("PollPace allows exactly its rate", () => {
  const pace = new PollPace(10);
  let sent = 0;
  for (let now = 0; now <= 5_000; now += 10) {
    while (pace.waitMs(now) === 0) {
      pace.spend(now);
      sent++;
    }
  }
  assertEquals(sent, 10 + 50); // a burst of one second, and ten in each of five
});

Deno.test("PollPace honours the longest of several Retry-After values, up to an hour", () => {
  const pace = new PollPace(10);
  pace.onRefusal(0, 120);
  pace.onRefusal(10, 30);
  assertEquals([pace.waitMs(10), pace.waitMs(119_999), pace.waitMs(120_000)], [119_990, 1, 0]);
  pace.onRefusal(120_000, 1e9);
  assertEquals(pace.waitMs(120_000), 3_600_000);
});

Deno.test("PollPace doubles its pauses after rejections without a Retry-After, until a successful poll", () => {
  const pace = new PollPace(10);
  const pauses = [];
  for (let now = 0, n = 0; n < 7; n++, now += 60_000) pauses.push(pace.onRefusal(now, undefined));
  assertEquals(pauses, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  pace.onAnswer();
  assertEquals(pace.onRefusal(1e9, undefined), 2_000);
  assertEquals(pace.onRefusal(1e9 + 1, undefined), 4_000);
  assertEquals(pace.onRefusal(1e9 + 2, undefined), 4_000, "those that were under way together count once");
});
