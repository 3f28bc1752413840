/**
 * The entry module of a serving thread: a thread that answers requests, either those of connections that it accepts, or
 * those that it is handed. The state of the main thread is reached by messages.
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { startThreadHeartbeat } from "../../../platform/lib/process/own_heartbeat.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import { isStateError } from "../../../platform/store/store_errors.ts";
import { holdEarlyMessages } from "../../../platform/workers/early_messages.ts";
import { guardThread } from "../../../platform/workers/thread_guard.ts";
import { type Moved, movedForNode } from "../../../platform/workers/worker_thread.ts";
import type { FromServing, ServingData, ToServing } from "../../../threads/serving/messages.ts";
import { Outbox } from "../../../threads/serving/outbox.ts";
import { readMessages } from "../../../threads/serving/wire.ts";
import { RemoteState } from "../../../threads/state/remote_state.ts";
import type { ServingRole } from "./serving_role.ts";

const isolateModule = new Late(() => import("./isolate_role.ts"));
const handedModule = new Late(() => import("./handed_role.ts"));

startThreadHeartbeat();
const takeMessages = holdEarlyMessages(); // a reload can come while the endpoints open
const data = workerData as ServingData;
const outbox: Outbox<FromServing> = new Outbox<FromServing>(
  (messages, moved) => parentPort!.postMessage(messages, movedForNode(moved)),
  (message, error) => message.type === "call" ? state.onUnsent(message, error) : reportError(error),
);
const state: RemoteState = new RemoteState({
  post,
  flush: () => outbox.flush(),
  onWaiting: (request) => role.onWaiting?.(request),
}, data);
const ownAddresses: OwnAddress[] = [...data.own];
const role: ServingRole = await openRole();

guardThread({ isFatal: isStateError, ...role.guards });
takeMessages((posted) => {
  for (const message of readMessages<ToServing>(posted)) take(message);
});
await role.start();

async function openRole(): Promise<ServingRole> {
  const postAlone = (messages: readonly FromServing[]) => parentPort!.postMessage(messages);
  const parts = { data, state, outbox, post, postAlone, ownAddresses, clock: systemClock };
  if (data.isolate === null) return await (await handedModule.load()).openHandedRole(parts);
  return await (await isolateModule.load()).openIsolate(parts, data.isolate);
}

function take(message: ToServing): void {
  const { endpoints, openStreams } = role;
  switch (message.type) {
    case "result":
      return state.onResult(message);
    case "overdrawn":
      return state.onOverdrawn(message.admission);
    case "own-address":
      return void ownAddresses.push(message.address);
    case "listed":
      return endpoints.setListed(message.listed);
    case "other-answer":
      return endpoints.noteOtherAnswer(message.answer);
    case "config": {
      const { id } = message;
      return holdState(endpoints.setConfig(message).then(() => post({ type: "acknowledged", id })), "a configuration");
    }
    case "abort-for-stop":
      return openStreams.abortForStop();
    default:
      return role.take(message);
  }
}

/** What the main thread only counts or writes can wait for messages that a request waits for. */
function post(message: FromServing, moved: readonly Moved[] = []): void {
  const canWait = message.type === "attempt" || (message.type === "attempted" && message.failure === null);
  if (canWait) outbox.postLater(message);
  else outbox.post(message, moved);
}
