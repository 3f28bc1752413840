import { assertEquals } from "@std/assert";
import type { ToServing } from "../../src/threads/serving/messages.ts";
import { Outbox } from "../../src/threads/serving/outbox.ts";
import { readMessages } from "../../src/threads/serving/wire.ts";

function overdrawn(admission: number): ToServing {
  return { type: "overdrawn", admission };
}

function stage() {
  const sent: number[][] = [];
  let onSent = () => {};
  const outbox = new Outbox<ToServing>((posted) => {
    const messages = readMessages<ToServing & { readonly admission: number }>(posted);
    sent.push(messages.map(({ admission }) => admission));
    onSent();
  }, (_, error) => {
    throw error;
  });
  const nextSent = () => new Promise<void>((resolve) => onSent = resolve);
  return { sent, outbox, nextSent };
}

Deno.test("outbox: messages of a turn are sent as one, in order, with those that could wait", async () => {
  const { sent, outbox, nextSent } = stage();
  const isSent = nextSent();
  outbox.postLater(overdrawn(1));
  outbox.post(overdrawn(2));
  await Promise.resolve();
  outbox.post(overdrawn(3));
  assertEquals(sent, []);
  await isSent;
  assertEquals(sent, [[1, 2, 3]]);
});

Deno.test("outbox: a message that cannot be sent keeps no other from being sent, and its sender learns of it", () => {
  const sent: unknown[] = [];
  const unsent: ToServing[] = [];
  const outbox = new Outbox<ToServing>(
    (posted, transfer) => void sent.push(...readMessages<ToServing>(structuredClone(posted, { transfer }))),
    (message) => void unsent.push(message),
  );
  const result = (call: number, value: ArrayBuffer): ToServing => ({ type: "result", call, value });
  const [whole, moved] = [new ArrayBuffer(3), new ArrayBuffer(4)];
  moved.transfer();
  outbox.post(overdrawn(1));
  outbox.post(result(2, moved), [moved]);
  outbox.post(result(3, whole), [whole]);
  outbox.flush();
  assertEquals(sent, [overdrawn(1), result(3, new ArrayBuffer(3))]);
  assertEquals(unsent, [result(2, moved)]);
});

Deno.test("outbox: a message that can wait is sent without another one too", async () => {
  const { sent, outbox, nextSent } = stage();
  for (const admission of [1, 2]) {
    const isSent = nextSent();
    outbox.postLater(overdrawn(admission));
    await isSent;
  }
  assertEquals(sent, [[1], [2]]);
});

Deno.test("outbox: flush() sends at once, and nothing twice", async () => {
  const { sent, outbox, nextSent } = stage();
  outbox.postLater(overdrawn(1));
  outbox.post(overdrawn(2));
  outbox.flush();
  outbox.flush();
  assertEquals(sent, [[1, 2]]);
  const isSent = nextSent();
  outbox.postLater(overdrawn(3));
  await isSent;
  assertEquals(sent, [[1, 2], [3]]);
});
