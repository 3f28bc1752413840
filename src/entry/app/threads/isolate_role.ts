import { DOCUMENTATION_ROOT } from "../../../platform/endpoints/service.ts";
import { adminKeyTest } from "../opening/admin_access.ts";
import { createKeyRing } from "../../../money/billing/keys/key_ring.ts";
import { OpenStreams } from "../../../services/calls/stream_relay.ts";
import { WrongKeys } from "../../../platform/http/wrong_keys.ts";
import { listen } from "../../../platform/http/listen.ts";
import { type FlaggedBreaker, flaggedBreaker } from "../../../threads/serving/flagged_breaker.ts";
import type { IsolateData } from "../../../threads/serving/messages.ts";
import { RecordSender } from "../../../threads/serving/record_sender.ts";
import { ThreadRelay } from "../../../threads/serving/relay.ts";
import { createSpool } from "../../../platform/files/spool.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { MemoryBudget } from "../../../platform/lib/process/memory_budget.ts";
import { ThreadUse } from "../../../platform/lib/process/thread_use.ts";
import { readCidr } from "../../../platform/net/address.ts";
import { useReplyRunner } from "../../../services/texts/large_replies/reply_runner.ts";
import { useTokenCounter } from "../../../services/texts/plan/token_estimate.ts";
import { traceBySampling } from "../../../observers/tracing/sampling.ts";
import { currentRouter } from "../routing/router.ts";
import { createIsolateHandler } from "./isolate_handler.ts";
import { IsolateLifecycle } from "./isolate_lifecycle.ts";
import { openIsolateMeter } from "./isolate_meter.ts";
import { openIsolateReplies } from "./isolate_replies.ts";
import { isolateRouter } from "./isolate_routes.ts";
import { LiveEndpoints } from "./live_endpoints.ts";
import type { ServingParts, ServingRole } from "./serving_role.ts";
import { logStreamFailures } from "../opening/log_stream_failures.ts";
import { toCallerError } from "../opening/storage_error.ts";

/**
 * A serving thread as an isolate: it accepts connections. It answers requests for texts, images, vectors and the like,
 * and for catalogs. It sends all others to the main thread, which has the jobs.
 */
export async function openIsolate(thread: ServingParts, own: IsolateData): Promise<ServingRole> {
  const { data, state, outbox, post, postAlone, ownAddresses, clock } = thread;
  const { log, store } = state;
  const records: RecordSender = new RecordSender({
    data: own,
    clock,
    outbox,
    send: postAlone,
    takeSuccesses: () => breaker.takeSuccesses(),
  });
  const breaker: FlaggedBreaker = flaggedBreaker({
    shared: state.breaker,
    flag: own.circuitFlag,
    clock,
    onSuccess: records.sendLater,
  });
  const { storeLimits } = data;
  const { meter, journal } = openIsolateMeter({
    data: { ...own, storeLimits },
    state,
    clock,
    report: records.sendWith,
  });
  const use = new ThreadUse(own.useBuffer, own.thread);
  const openStreams = new OpenStreams(use);
  const keys = createKeyRing({ store, clock, isAdminKey: adminKeyTest(data.config, store, clock) });
  const replies = await openIsolateReplies({ config: data.config, state, clock });
  useTokenCounter((text) => state.countTokens(text));
  useReplyRunner(state.runReplyJob);
  const relay = new ThreadRelay(own.relay, clock);
  const publicWrongKeys = new WrongKeys(clock);
  const routes = {
    state,
    meter,
    keys,
    breaker,
    publicWrongKeys: {
      // The main thread sends it to all threads, with this one.
      note: (address: string) => post({ type: "public-wrong-key", address }),
      isSlowed: (address: string) => publicWrongKeys.isSlowed(address),
    },
    replies,
    openStreams,
    uploads: createSpool(own.uploads),
    baseUrl: own.baseUrl,
    clock,
  };
  const endpoints = await LiveEndpoints.open(data, {
    state,
    ownAddresses,
    clock,
    routerOf: (parts) => isolateRouter(parts, routes),
    onChanged: () => meter.endAll(), // a limit can be lower
  });
  const router = currentRouter(() => endpoints.router);
  const lifecycle = new IsolateLifecycle({ openStreams, records, meter, journal, clock, log, post });
  const handler = createIsolateHandler({
    router,
    relay,
    serves: (...request) => router.match(...request).route,
    log,
    clock,
    memory: new MemoryBudget(own.memoryBytes, { use, limitBytes: own.memoryBytes }),
    errorOf: toCallerError,
    isDraining: () => lifecycle.isDraining,
    trustedProxies: data.config.server.trustedProxies.map(readCidr),
    traceOf: data.config.tracing === null ? null : traceBySampling(data.config.tracing.ratio),
    docsUrl: () => data.config.server.docsUrl ?? own.baseUrl + DOCUMENTATION_ROOT,
    observer: records.observe,
    onArrival: records.onArrival,
  });
  logStreamFailures(log);
  const acknowledge = ({ id }: { readonly id: number }) => post({ type: "acknowledged", id });
  return {
    endpoints,
    openStreams,
    guards: {
      onFatal: (error) => holdState(lifecycle.fail(error), "the end of a thread"),
      onOutOfMemory: () => lifecycle.endStreams(),
    },
    start: () => lifecycle.start(() => listen({ ...own.listen, reusePort: true, handler, log })),
    take(message) {
      switch (message.type) {
        case "leased":
        case "lease-overdrawn":
        case "report-leases":
        case "written":
        case "unwritten":
          return meter.onMessage(message);
        case "public-wrong-key":
          return publicWrongKeys.note(message.address);
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
        case "stop":
          return holdState(lifecycle.stop(message.graceMs), "the end of a thread");
      }
    },
  };
}
