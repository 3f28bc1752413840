import type { OpenStreams } from "../../../services/calls/stream_relay.ts";
import type { RequestRouter } from "../../../platform/http/request_handler.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import type { OwnAddress } from "../../../platform/net/target.ts";
import type { ThreadGuardOptions } from "../../../platform/workers/thread_guard.ts";
import type { Moved } from "../../../platform/workers/worker_thread.ts";
import type { FromServing, ServingData, ToHandedThread, ToIsolate } from "../../../threads/serving/messages.ts";
import type { Outbox } from "../../../threads/serving/outbox.ts";
import type { RemoteState } from "../../../threads/state/remote_state.ts";
import type { LiveEndpoints } from "./live_endpoints.ts";

/** What every serving thread has, wherever its requests come from. */
export interface ServingParts {
  readonly data: ServingData;
  readonly state: RemoteState;
  readonly outbox: Outbox<FromServing>;
  /** Sends a message to the main thread, at the end of the turn. */
  readonly post: (message: FromServing, moved?: readonly Moved[]) => void;
  /** Sends messages immediately, without those that wait. */
  readonly postAlone: (messages: readonly FromServing[]) => void;
  /** The gateway's own addresses, which grow. */
  readonly ownAddresses: readonly OwnAddress[];
  readonly clock: Clock;
}

/** Where the requests of a serving thread come from, and what follows from that. */
export interface ServingRole {
  readonly endpoints: LiveEndpoints<RequestRouter>;
  readonly openStreams: OpenStreams;
  /** How the thread ends after an error that nothing has caught, and without memory. */
  readonly guards: Pick<ThreadGuardOptions, "onFatal" | "onOutOfMemory">;
  /** Begins to take requests, once the messages of the main thread are received. */
  start(): Promise<void>;
  /** Handles a message that only this kind of serving thread receives. */
  take(message: ToIsolate | ToHandedThread): void;
  /** A request waits for something other than this thread. Absent if nobody needs to know. */
  onWaiting?(request: number): void;
}
