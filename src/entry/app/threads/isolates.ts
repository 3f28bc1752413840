import { CircuitFlag } from "../../../threads/serving/circuit_flag.ts";
import { Isolates, type IsolatesOptions, unbalancedReason } from "../../../threads/serving/isolates.ts";
import { relayedAddressOf, relayedHandler } from "../../../threads/serving/relay.ts";
import { WritableFlag } from "../../../threads/serving/writable_flag.ts";
import { holdState } from "../../../platform/lib/basics/held.ts";
import { asListenError, SERVER_ADDRESS } from "../../../platform/http/listen_error.ts";
import { listen, type Listening, urlOf } from "../../../platform/http/listen.ts";
import type { RequestHandler, RequestHandlerOptions } from "../../../platform/http/request_handler.ts";
import type { RequestObserver } from "../../../platform/http/request/request_record.ts";
import { noteOtherAnswer } from "../../../services/texts/relay/answering_model.ts";
import { replayThread, threadJournalPlace } from "../journal/charge_journal.ts";
import type { LiveGateway } from "../gateway/live_gateway.ts";
import { threadUploads } from "../opening/file_stores.ts";
import type { OwnedServices } from "../opening/own.ts";

/** Reads what an isolate sends along with a request. */
export type RelayedOrigin = Pick<RequestHandlerOptions, "addressOf">;

/** What {@linkcode listenByIsolates} needs besides the services. */
export interface IsolateParts extends Pick<IsolatesOptions, "writtenObserver"> {
  readonly gateway: LiveGateway;
  /** Returns a handler of the requests that isolates do not answer. */
  readonly handlerOf: (origin: RelayedOrigin) => RequestHandler;
  /** Receives the records of the requests that isolates answer. */
  readonly observer: RequestObserver;
}

/** Threads that listen at the address of the gateway. */
export interface IsolatedListening extends Omit<Listening, "closed"> {
  readonly isolates: Isolates;
}

/**
 * Starts threads that accept connections at the address of the gateway.
 *
 * @throws {ListenError} If the address cannot be used, such as one that another process has.
 */
export async function listenByIsolates(
  services: OwnedServices,
  { gateway, handlerOf, observer, writtenObserver }: IsolateParts,
): Promise<IsolatedListening> {
  const { config: { server }, log, memory, threadUse, ownAddresses, onKeysEvicted, lessors, journalPlace } = services;
  const { features } = gateway;
  const unbalanced = unbalancedReason(Deno.build.os);
  if (unbalanced !== null) log.warn("isolates_unbalanced", { count: server.isolates, reason: unbalanced });
  const { address: { hostname: address, port }, release } = reserveAddress(server);
  const token = crypto.randomUUID();
  const circuits = new CircuitFlag(services.breaker, services.clock);
  const writable = new WritableFlag(services.store.writeGuard, services.clock);
  const handler = relayedHandler(handlerOf({ addressOf: relayedAddressOf }), token);
  const relay = await listen({ host: "127.0.0.1", port: 0, handler, log });
  const isolates = new Isolates({
    ...services,
    reasoning: features.reasoning,
    items: features.items,
    handOn: (request, callerSignal) => features.large.handOn(request, callerSignal),
    count: server.isolates,
    listed: gateway.listed,
    own: ownAddresses,
    listen: { host: server.host, port },
    relay: { port: relay.port, token },
    baseUrl: server.baseUrl ?? urlOf({ address, port }),
    circuitFlag: circuits.buffer,
    writableFlag: writable.buffer,
    lessors: lessors!,
    journals: journalPlace && {
      placeOf: (slot) => threadJournalPlace(journalPlace, slot),
      replay: (slot) => replayThread(journalPlace, slot, services),
    },
    uploads: threadUploads(services.config),
    memoryBytes: memory.limitBytes,
    threadUse: threadUse!,
    observer,
    writtenObserver,
    onThreadAnswer: (answer) => holdState(noteOtherAnswer(answer, gateway.services), "a model that answers"),
    hasRows: services.requestLog !== null,
    entry: services.isolateEntry,
    heapMegabytes: services.isolateHeapMegabytes,
  });
  try {
    await isolates.start();
  } catch (error) {
    await relay.shutdown(0);
    writable.close();
    throw error;
  } finally {
    release();
  }
  gateway.isolates = isolates;
  let isTight = false;
  services.onAttemptFailed.push(() => circuits.onFailure());
  services.onRepliesForgotten.push((accountId) => isolates.forgetReplies(accountId));
  services.otherAnswers.listeners.push((answer) => isolates.noteOtherAnswer(answer));
  services.onRecordsRead.push(() => isolates.recordsSent());
  onKeysEvicted.push((accountId) => isolates.evictAccount(accountId));
  ownAddresses.push({ host: relay.address, port: relay.port });
  return {
    address,
    port,
    isolates,
    setClosing: (isClosing) => isolates.onDescriptors(isTight = isClosing, false),
    renew() {
      isolates.onDescriptors(isTight, true);
      return true;
    },
    async shutdown(graceMs) {
      await isolates.stop(graceMs);
      circuits.close();
      writable.close();
      return await relay.shutdown(0); // whoever sent requests has ended
    },
  };
}

/** An address that no other process uses. */
interface ReservedAddress {
  readonly address: Deno.NetAddr;
  /** Called once the threads listen. */
  readonly release: () => void;
}

/** As {@linkcode openAddress}. An error names the setting. */
function reserveAddress(at: { readonly host: string; readonly port: number }): ReservedAddress {
  try {
    return openAddress(at);
  } catch (error) {
    throw asListenError(at, SERVER_ADDRESS, error);
  }
}

/** The threads share the address, so they would also share it with another process that allows it. */
function openAddress({ host: hostname, port }: { readonly host: string; readonly port: number }): ReservedAddress {
  if (port === 0) {
    // Another process could get the port before the threads listen. Nobody connects to it before it is printed.
    const listener = Deno.listen({ hostname, port, reusePort: true });
    return { address: listener.addr, release: () => listener.close() };
  }
  using listener = Deno.listen({ hostname, port });
  return { address: listener.addr, release() {} };
}
