/**
 * The thread of `message_cost.ts`: sends a batch of calls, and the next one when all are answered. The calls reserve
 * money, as each text request does first.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { FromServing, ToServing } from "../src/threads/serving/messages.ts";
import { movedForNode } from "../src/platform/workers/worker_thread.ts";
import { Outbox } from "../src/threads/serving/outbox.ts";
import { readMessages } from "../src/threads/serving/wire.ts";

const { messages } = workerData as { readonly messages: number };
const port = parentPort;
if (port === null) throw new Error("Cannot run message_thread.ts by itself: message_cost.ts starts it");
const outbox = new Outbox<FromServing>((batch, moved) => port.postMessage(batch, movedForNode(moved)));
let call = 0;
let open = 0;

function sendBatch(): void {
  open = messages;
  for (let sent = 0; sent < messages; sent++) {
    outbox.post({
      type: "call",
      call: ++call,
      request: null,
      what: {
        name: "admit",
        caller: { keyId: "key_0123456789abcdef", accountId: "bench", limits: null },
        reserved: { amount: 1_234_567n, outputLimit: null },
        wantsLease: null,
      },
    });
  }
}

port.on("message", (posted: unknown) => {
  open -= readMessages<ToServing>(posted).length;
  if (open === 0) sendBatch();
});
sendBatch();
