import { threadModule } from "../../lib/program_files.ts";
import { type StartThread, threadStarter, type WorkerThread } from "../../workers/worker_thread.ts";
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
export function sinkIn(folder: string, isPower: boolean): JournalSink {
  return isPower ? threadSink(journalThread(folder)) : fileSink(folder);
}

/** Starts a thread that writes to the journal in a folder. */
export function journalThread(folder: string): StartThread {
  const entry = threadModule("store/journal/journal_entry");
  return threadStarter({ kind: "journal", entry, heapMegabytes: HEAP_MEGABYTES, data: { folder } });
}

/**
 * A sink that writes and syncs in a thread of its own. What is appended during a sync shares the next one, so each
 * sync takes one message in each direction. If the thread ends, all appends fail.
 */
export function threadSink(start: StartThread): JournalSink {
  let waiting: Batch | null = null;
  let running: Batch | null = null;
  let crash: Error | null = null;
  let onIdle: (() => void) | null = null;
  const thread: WorkerThread = start({
    onMessage(message) {
      const { failure } = message as JournalDone;
      const done = running;
      running = null;
      sendNext();
      if (failure === null) done?.synced.resolve();
      else done?.synced.reject(new Error(failure));
    },
    onCrash(reason) {
      crash = new Error(`The thread of the journal ended: ${reason}`);
      running?.synced.reject(crash);
      waiting?.synced.reject(crash);
      running = waiting = null;
      onIdle?.();
    },
  });
  thread.setReferenced(false);

  function sendNext(): void {
    if (running !== null) return;
    if (waiting === null) {
      thread.setReferenced(false);
      onIdle?.();
      return;
    }
    running = waiting;
    waiting = null;
    const parts = running.parts.map(({ segment, chunks }): JournalPart => ({ segment, bytes: joined(chunks) }));
    thread.setReferenced(true);
    thread.post({ parts } satisfies JournalTask, parts.flatMap(({ bytes }) => bytes ?? []));
  }

  /** The batch for the next message. The message is sent at the end of the turn, or after the task in progress. */
  function nextBatch(): Batch {
    if (waiting === null) {
      waiting = { parts: [], synced: Promise.withResolvers() };
      waiting.synced.promise.catch(() => {}); // a batch of removals has no reader
      queueMicrotask(sendNext);
    }
    return waiting;
  }

  return {
    append(segment, bytes) {
      if (crash !== null) throw crash;
      const { parts, synced } = nextBatch();
      const last = parts.at(-1);
      if (last?.segment === segment && last.chunks !== null) last.chunks.push(bytes.slice());
      else parts.push({ segment, chunks: [bytes.slice()] });
      return synced.promise;
    },
    remove(segment) {
      if (crash === null) nextBatch().parts.push({ segment, chunks: null });
    },
    async close() {
      // Ends when all lines are written: each is answered, or the thread crashes.
      while (crash === null && (running !== null || waiting !== null)) {
        await new Promise<void>((resolve) => onIdle = resolve);
      }
      thread.terminate();
    },
  };
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
