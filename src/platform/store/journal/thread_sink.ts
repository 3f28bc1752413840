import type { Log } from "../../lib/basics/log.ts";
import { threadModule } from "../../lib/process/program_files.ts";
import { type StartThread, threadStarter, type WorkerThread } from "../../workers/worker_thread.ts";
import { JournalWriteError } from "../store_errors.ts";
import { fileSink } from "./file_sink.ts";
import type { JournalSink } from "./journal.ts";

/** A message to the thread: what to do, in this order, before it sends a {@linkcode JournalDone}. */
export interface JournalTask {
  readonly parts: readonly JournalPart[];
}

/** Bytes to append to a segment; null removes the segment. */
export interface JournalPart {
  readonly segment: number;
  readonly bytes: ArrayBuffer | null;
}

/** Sent when a task is done: everything is synced to the disk, or why the task failed. */
export interface JournalDone {
  readonly failure: string | null;
}

interface Batch {
  readonly parts: { readonly segment: number; readonly chunks: Uint8Array[] | null }[];
  readonly synced: PromiseWithResolvers<void>;
}

const HEAP_MEGABYTES = 64;

/** A sink in the folder of a journal: one that syncs for `power`, one that appends at once for `process`. */
export function sinkIn(folder: string, isPower: boolean, log: Log): JournalSink {
  return isPower ? threadSink(journalThread(folder), log) : fileSink(folder);
}

/** Starts a thread that writes to the journal in a folder. */
export function journalThread(folder: string): StartThread {
  const entry = threadModule("platform/store/journal/journal_entry");
  return threadStarter({ kind: "journal", entry, heapMegabytes: HEAP_MEGABYTES, data: { folder } });
}

/**
 * A sink that writes and syncs in a thread of its own. What is appended during a sync shares the next one, so each
 * sync takes one message in each direction. If the thread ends, the appends under way fail, and the next one starts
 * another thread.
 */
export function threadSink(start: StartThread, log: Log): JournalSink {
  const sink = new ThreadSink(start, log);
  sink.startThread();
  return sink;
}

/** After so many threads that ended without an answer, the next appends start no other. */
const MAX_SILENT_THREADS = 3;

class ThreadSink implements JournalSink {
  readonly #start: StartThread;
  #thread: WorkerThread | null = null;
  #crash: JournalWriteError | null = null;
  /** Threads in a row that ended before they answered. */
  #silentThreads = 0;
  #waiting: Batch | null = null;
  #running: Batch | null = null;
  #onIdle: (() => void) | null = null;

  constructor(start: StartThread, readonly log: Log) {
    this.#start = start;
  }

  startThread(): WorkerThread {
    const thread = this.#start({
      onMessage: (message) => this.#onDone(message as JournalDone),
      onCrash: (reason) => this.#onCrash(reason),
    });
    thread.setReferenced(false);
    return this.#thread = thread;
  }

  append(segment: number, bytes: Uint8Array): Promise<void> {
    if (this.#crash !== null && this.#silentThreads >= MAX_SILENT_THREADS) throw this.#crash;
    const { parts, synced } = this.#nextBatch();
    const last = parts.at(-1);
    if (last?.segment === segment && last.chunks !== null) last.chunks.push(bytes.slice());
    else parts.push({ segment, chunks: [bytes.slice()] });
    return synced.promise;
  }

  remove(segment: number): void {
    if (this.#thread !== null) this.#nextBatch().parts.push({ segment, chunks: null });
  }

  async close(): Promise<void> {
    // Ends when all lines are written: each is answered, or the thread crashes.
    while (this.#running !== null || this.#waiting !== null) {
      await new Promise<void>((resolve) => this.#onIdle = resolve);
    }
    this.#thread?.terminate();
  }

  /** The batch for the next message. The message is sent at the end of the turn, or after the task in progress. */
  #nextBatch(): Batch {
    if (this.#waiting === null) {
      this.#waiting = { parts: [], synced: Promise.withResolvers() };
      this.#waiting.synced.promise.catch(() => {}); // a batch of removals has no reader
      queueMicrotask(() => this.#sendNext());
    }
    return this.#waiting;
  }

  #sendNext(): void {
    if (this.#running !== null) return;
    if (this.#waiting === null) {
      this.#thread?.setReferenced(false);
      this.#onIdle?.();
      return;
    }
    const batch = this.#waiting;
    this.#waiting = null;
    try {
      const thread = this.#thread ?? this.startThread();
      const parts = batch.parts.map(({ segment, chunks }): JournalPart => ({ segment, bytes: joined(chunks) }));
      thread.setReferenced(true);
      thread.post({ parts } satisfies JournalTask, parts.flatMap(({ bytes }) => bytes ?? []));
      this.#running = batch;
    } catch (error) {
      batch.synced.reject(new JournalWriteError("the thread of the journal cannot start", error));
      this.#onIdle?.();
    }
  }

  #onDone({ failure }: JournalDone): void {
    this.#silentThreads = 0;
    const done = this.#running;
    this.#running = null;
    this.#sendNext();
    if (failure === null) done?.synced.resolve();
    else done?.synced.reject(new JournalWriteError(failure));
  }

  #onCrash(reason: string): void {
    this.#thread = null;
    this.#silentThreads++;
    this.log.error("worker_crashed", { ref: "journal", reason });
    this.#crash = new JournalWriteError(`the thread of the journal ended: ${reason}`);
    const lost = [this.#running, this.#waiting];
    this.#running = this.#waiting = null;
    for (const batch of lost) batch?.synced.reject(this.#crash);
    this.#onIdle?.();
  }
}

function joined(chunks: readonly Uint8Array[] | null): ArrayBuffer | null {
  if (chunks === null) return null;
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes.buffer;
}
