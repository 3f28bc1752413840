/**
 * The entry module of an isolate: a thread that accepts connections. It answers requests for texts, images, vectors and
 * the like, and for catalogs. It sends all others to the main thread, which has the store and the jobs.
 */
import { DOCUMENTATION_ROOT } from "../../../platform/endpoints/service.ts";
import { adminKeyTest } from "../opening/admin_access.ts";
import { parentPort, workerData } from "node:worker_threads";
import { createKeyRing } from "../../../money/billing/keys/key_ring.ts";
import { OpenStreams } from "../../../services/calls/stream_relay.ts";
import { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { listen } from "../../../platform/http/listen.ts";
import { type FlaggedBreaker, flaggedBreaker } from "../../../threads/isolates/flagged_breaker.ts";
import type { FromIsolate, IsolateData, ToIsolate } from "../../../threads/isolates/messages.ts";
import { Outbox } from "../../../threads/isolates/outbox.ts";
import { RecordSender } from "../../../threads/isolates/record_sender.ts";
import { ThreadRelay } from "../../../threads/isolates/relay.ts";
import { readMessages } from "../../../threads/isolates/wire.ts";
import { createSpool } from "../../../platform/files/spool.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { MemoryBudget } from "../../../platform/lib/process/memory_budget.ts";
import { startThreadHeartbeat } from "../../../platform/lib/process/own_heartbeat.ts";
import { ThreadUse } from "../../../platform/lib/process/thread_use.ts";
import { readCidr } from "../../../platform/net/address.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import { isStateError } from "../../../platform/store/store_errors.ts";
import { useReplyRunner } from "../../../services/texts/large_replies/reply_runner.ts";
import { useTokenCounter } from "../../../services/texts/plan/token_estimate.ts";
import { RemoteState } from "../../../threads/thread_state/remote_state.ts";
import { traceBySampling } from "../../../observers/tracing/sampling.ts";
import { holdEarlyMessages } from "../../../platform/workers/early_messages.ts";
import { guardThread } from "../../../platform/workers/thread_guard.ts";
import { createIsolateHandler } from "./isolate_handler.ts";
import { IsolateLifecycle } from "./isolate_lifecycle.ts";
import { openIsolateMeter } from "./isolate_meter.ts";
import { openIsolateReplies } from "./isolate_replies.ts";
import { LiveIsolate } from "./live_isolate.ts";
import { logStreamFailures } from "../opening/log_stream_failures.ts";
import { toCallerError } from "../opening/storage_error.ts";

startThreadHeartbeat();
const takeMessages = holdEarlyMessages(); // a reload can come while the endpoints open
const data = workerData as IsolateData;
const clock = systemClock;
const outbox: Outbox<FromIsolate> = new Outbox<FromIsolate>(
  (messages, transfer) => parentPort!.postMessage(messages, transfer),
  (message, error) => message.type === "call" ? state.onUnsent(message, error) : reportError(error),
);
const state: RemoteState = new RemoteState({ post, flush: () => outbox.flush(), onWaiting() {} }, data);
const { log, store } = state;
const records: RecordSender = new RecordSender({
  data,
  clock,
  outbox,
  send: (messages) => parentPort!.postMessage(messages),
  takeSuccesses: () => breaker.takeSuccesses(),
});
const breaker: FlaggedBreaker = flaggedBreaker({
  shared: state.breaker,
  flag: data.circuitFlag,
  clock,
  onSuccess: records.sendLater,
});
const { meter, journal } = openIsolateMeter({ data, state, clock, report: records.sendWith });
const ownAddresses: OwnAddress[] = [...data.own];
const use = new ThreadUse(data.useBuffer, data.thread);
const openStreams = new OpenStreams(use);
const keys = createKeyRing({ store, clock, isAdminKey: adminKeyTest(data.config, store, clock) });
const replies = await openIsolateReplies({ config: data.config, state, clock });
useTokenCounter((text) => state.countTokens(text));
useReplyRunner(state.runReplyJob);
const relay = new ThreadRelay(data.relay, clock);
const publicWrongKeys = new WrongKeys(clock);
const live = await LiveIsolate.open(data, {
  state,
  meter,
  keys,
  breaker,
  publicWrongKeys: {
    // The main thread sends it to all threads, with this one.
    note: (address) => post({ type: "public-wrong-key", address }),
    isSlowed: (address) => publicWrongKeys.isSlowed(address),
  },
  replies,
  openStreams,
  relay,
  uploads: createSpool(data.uploads),
  ownAddresses,
  baseUrl: data.baseUrl,
  clock,
});
const lifecycle = new IsolateLifecycle({ openStreams, records, meter, journal, clock, log, post });
const handler = createIsolateHandler({
  router: live.router,
  relay,
  serves: (...request) => live.router.match(...request).route,
  limits: () => live.config.limits,
  log,
  clock,
  memory: new MemoryBudget(data.memoryBytes, { use, limitBytes: data.memoryBytes }),
  errorOf: toCallerError,
  isDraining: () => lifecycle.isDraining,
  trustedProxies: data.config.server.trustedProxies.map(readCidr),
  traceOf: data.config.tracing === null ? null : traceBySampling(data.config.tracing.ratio),
  docsUrl: () => data.config.server.docsUrl ?? data.baseUrl + DOCUMENTATION_ROOT,
  observer: records.observe,
  onArrival: records.onArrival,
});

guardThread({
  isFatal: isStateError,
  onFatal: (error) => holdState(lifecycle.fail(error), "the end of a thread"),
  onOutOfMemory: () => lifecycle.endStreams(),
});
takeMessages((posted) => {
  for (const message of readMessages<ToIsolate>(posted)) take(message);
});
logStreamFailures(log);
await lifecycle.start(() => listen({ ...data.listen, reusePort: true, handler, log }));

function take(message: ToIsolate): void {
  switch (message.type) {
    case "result":
      return state.onResult(message);
    case "overdrawn":
      return state.onOverdrawn(message.admission);
    case "leased":
    case "lease-overdrawn":
    case "report-leases":
    case "written":
    case "unwritten":
      return meter.onMessage(message);
    case "own-address":
      return void ownAddresses.push(message.address);
    case "listed":
      return live.setListed(message.listed);
    case "other-answer":
      return live.noteOtherAnswer(message.answer);
    case "public-wrong-key":
      return publicWrongKeys.note(message.address);
    case "config":
      return holdState(live.setConfig(message).then(() => acknowledge(message)), "a configuration");
    case "evict":
      keys.evictAccount(message.accountId);
      meter.endAccount(message.accountId);
      return acknowledge(message);
    case "forget-replies":
      replies.forget(message.accountId);
      return acknowledge(message);
    case "send-records":
      records.send();
      return acknowledge(message); // after the records that wait
    case "descriptors":
      return lifecycle.onDescriptors(message.isTight, message.renews);
    case "abort-for-stop":
      return openStreams.abortForStop();
    case "stop":
      return holdState(lifecycle.stop(message.graceMs), "the end of a thread");
  }
}

function acknowledge({ id }: { readonly id: number }): void {
  post({ type: "acknowledged", id });
}

/** What the main thread only counts or writes can wait for messages that a request waits for. */
function post(message: FromIsolate, transfer: readonly ArrayBuffer[] = []): void {
  const canWait = message.type === "attempt" || (message.type === "attempted" && message.failure === null);
  if (canWait) outbox.postLater(message);
  else outbox.post(message, transfer);
}
