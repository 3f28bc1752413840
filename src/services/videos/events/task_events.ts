import { createHash } from "node:crypto";
import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import type { Holdings } from "../../../platform/lib/collections/holdings.ts";
import { type OutputSource, outputStream, type StreamOutput } from "../../../platform/lib/streams/output_stream.ts";
import type { VideoStatus, VideoTask } from "../tasks/task.ts";
import type { TaskObject } from "../tasks/task_object.ts";
import type { TaskWatch } from "./task_watch.ts";

/** A state of a task, as sent to a reader. */
export interface TaskEvent {
  /** The same for the same state in every process. A reader that reconnects sends the last id it received. */
  readonly id: string;
  readonly status: VideoStatus;
  readonly task: TaskObject;
}

/** The reader of an event stream, and the encoding of its events. */
export interface TaskEventReader {
  /** Whether the reader's credential is still valid; called on each tick. */
  isAuthorized(): Promise<boolean>;

  /** Sent first, so that the response starts immediately. */
  readonly opening: Uint8Array;
  /** Keeps the stream alive. */
  readonly heartbeat: Uint8Array;
  write(event: TaskEvent): Uint8Array;
}

/** Dependencies of an event stream. */
export interface TaskEventParts {
  readonly watch: TaskWatch;
  readonly reader: TaskEventReader;
  readonly objectOf: (task: VideoTask) => TaskObject;
  /** Called once, when either side ended the stream. */
  readonly onEnd: () => void;
}

/** Number of ticks without a read after which the reader counts as disconnected. */
const MAX_STALLED_TICKS = 4;
const RETRY_AFTER_SECONDS = 5;

/**
 * Counts a new event stream of a credential.
 *
 * @param open The open streams of each credential.
 * @param limit Maximum per credential.
 * @returns A function to call when the stream ends.
 * @throws {GatewayError} `rate_limited` if the credential has the maximum number of streams.
 */
export function takeStream(open: Holdings, keyId: string, limit: number): () => void {
  const giveBack = open.take([[keyId, limit]]);
  if (giveBack !== null) return giveBack;
  const message = `Cannot open another event stream: this API key has ${open.of(keyId)} open, which is the maximum`;
  throw new GatewayError("rate_limited", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Returns the id of a state. Addresses are not part of it, because they are signed again for each response. */
export function eventIdOf({ status, provider, progress, queue_position, started_at }: TaskObject): string {
  const state = JSON.stringify([status, provider, progress, queue_position, started_at]);
  return createHash("sha256").update(state).digest("base64url").slice(0, 16);
}

/**
 * Returns the changes of a task as a stream until the task ends. The current state comes first unless the reader has
 * received it. A slow reader gets only the newest state when it reads again, so nothing accumulates.
 *
 * @param lastEventId Id of the last event that the reader received; null if there is none.
 */
export function taskEvents(
  taskId: string,
  lastEventId: string | null,
  parts: TaskEventParts,
): ReadableStream<Uint8Array> {
  return outputStream(new TaskEventSource(taskId, lastEventId, parts));
}

class TaskEventSource implements OutputSource<Uint8Array> {
  #output: StreamOutput<Uint8Array> | null = null;
  #unwatch: (() => void) | null = null;
  #sentId: string | null;
  /** The newest state, if it is not sent yet. */
  #pending: TaskEvent | null = null;
  #stalledTicks = 0;
  #isOver = false;

  constructor(readonly taskId: string, lastEventId: string | null, readonly parts: TaskEventParts) {
    this.#sentId = lastEventId;
  }

  start(output: StreamOutput<Uint8Array>): void {
    this.#output = output;
    output.enqueue(this.parts.reader.opening);
    const unwatch = this.parts.watch.watch(this.taskId, {
      onTask: (task) => output.run(() => this.#onTask(task)),
      onTick: () => output.run(() => this.#onTick()),
      onClose: () => this.#end(),
    });
    this.#unwatch = unwatch;
    if (this.#isOver) unwatch();
  }

  pull(): void {
    this.#stalledTicks = 0;
    this.#send();
  }

  cancel(): void {
    this.#leave();
  }

  #onTask(task: VideoTask | null): void {
    if (task === null) return this.#end();
    const object = this.parts.objectOf(task);
    const id = eventIdOf(object);
    this.#pending = id === this.#sentId ? null : { id, status: object.status, task: object };
    this.#send();
  }

  #onTick(): void {
    const output = this.#output;
    if (output === null || output.isOver) return;
    if (output.desiredSize > 0) output.enqueue(this.parts.reader.heartbeat);
    else if (++this.#stalledTicks >= MAX_STALLED_TICKS) return this.#end();
    // If the store is unavailable, the next tick asks again.
    this.parts.reader.isAuthorized().then((isAuthorized) => isAuthorized || this.#end(), () => {});
  }

  #send(): void {
    const output = this.#output;
    const event = this.#pending;
    if (output === null || event === null || output.desiredSize <= 0) return;
    this.#pending = null;
    this.#sentId = event.id;
    output.enqueue(this.parts.reader.write(event));
    if (event.status !== "pending") this.#end();
  }

  #end(): void {
    this.#output?.close();
    this.#leave();
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unwatch?.();
    this.parts.onEnd();
  }
}
