import type { PauseMemory } from "./accept_pause.ts";

/**
 * What threads write for the watch thread (`src/workers/watch.ts`), in memory that all threads of a process share: a
 * heartbeat, which is a number that grows while the thread's event loop turns, and a mark of the work that it began
 * last. Marks hold ids and names, never text of a request.
 *
 * Each thread has a slot. The first slot holds what concerns the whole process.
 */

/** The kinds of threads, in the order of their numbers in shared memory. */
export const THREAD_KINDS = [
  "main",
  "isolate",
  "large requests",
  "large replies",
  "media",
  "tokens",
  "configuration",
  "request log",
  "journal",
  "prices",
  "bodies",
] as const;

/** A kind of thread. */
export type ThreadKind = typeof THREAD_KINDS[number];

/** The kinds of marked work, in the order of their numbers in shared memory. */
const MARKED_STEPS = ["none", "request", "attempt", "stream", "job", "thread job"] as const;

/** A kind of marked work. */
export type MarkedStep = typeof MARKED_STEPS[number];

const STEP_NUMBERS = Object.fromEntries(MARKED_STEPS.map((step, number) => [step, number])) as Readonly<
  Record<MarkedStep, number>
>;

/** Time between two beats of a thread. */
export const HEARTBEAT_MS = 1_000;

const SLOTS = 160;
const SLOT_BYTES = 128;
const SLOT_INTS = SLOT_BYTES / Int32Array.BYTES_PER_ELEMENT;

/** The numbers of a slot. */
const KIND = 0;
const HEARTBEATS = 1;
const STEP = 2;
const END = 3;
/** The second of the last beat, in Unix time. */
const HEARTBEAT_AT = 4;
/** Whether the thread accepts connections. See `AcceptPause`. */
const ACCEPTING = 5;
/** The texts of a slot, in ASCII. Each ends with a zero, or at its greatest length. */
const ID_AT = 32;
const ID_BYTES = 48;
const DETAIL_AT = ID_AT + ID_BYTES;
const DETAIL_BYTES = SLOT_BYTES - DETAIL_AT;

/** The numbers of the first slot. The stalls of each kind of thread follow. */
const STOPPING = 0;
const LOST = 1;
const STALLS = 2;
/** Whether threads that accept connections pause. See `AcceptPause`. */
const PAUSED = SLOT_INTS - 1;

/** In `END`: whether the thread is to answer that its event loop turns, and whether it has. */
const NOT_ENDING = 0;
const REQUESTED = 1;
const ANSWERED = 2;

/** What a thread wrote last. */
export interface Heartbeat {
  readonly kind: ThreadKind;
  /** 0 until its event loop has turned once. */
  readonly beats: number;
  readonly step: MarkedStep;
  /** The id of the request or the job; empty if there is none. */
  readonly id: string;
  /** The provider, or the kind of the job; empty if there is none. */
  readonly detail: string;
}

/** The heartbeats of all threads of a process. */
export class Heartbeats {
  readonly #ints: Int32Array;
  readonly #bytes: Uint8Array;

  /** @param buffer Shared memory of another instance. Default: new memory. */
  constructor(readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(SLOTS * SLOT_BYTES)) {
    this.#ints = new Int32Array(buffer);
    this.#bytes = new Uint8Array(buffer);
  }

  /** Takes a free slot for a thread; null if there is none, and the thread is not watched then. */
  open(kind: ThreadKind): number | null {
    for (let slot = 1; slot < SLOTS; slot++) {
      const at = slot * SLOT_INTS;
      if (Atomics.compareExchange(this.#ints, at + KIND, 0, THREAD_KINDS.indexOf(kind) + 1) === 0) return slot;
    }
    return null;
  }

  /** Frees the slot of a thread that has ended. */
  close(slot: number): void {
    this.#bytes.fill(0, slot * SLOT_BYTES + Int32Array.BYTES_PER_ELEMENT, (slot + 1) * SLOT_BYTES);
    Atomics.store(this.#ints, slot * SLOT_INTS + KIND, 0);
  }

  /** Counts a beat of a thread. A thread that is asked whether its event loop turns answers with it. */
  beat(slot: number): void {
    const at = slot * SLOT_INTS;
    // Never 0 again: that is a thread which has not started.
    Atomics.store(this.#ints, at + HEARTBEATS, (Atomics.load(this.#ints, at + HEARTBEATS) % MAX_HEARTBEATS) + 1);
    Atomics.store(this.#ints, at + HEARTBEAT_AT, secondsNow());
    Atomics.compareExchange(this.#ints, at + END, REQUESTED, ANSWERED);
  }

  /** Returns the last heartbeat of each thread by its slot. */
  read(): ReadonlyMap<number, Heartbeat> {
    const beats = new Map<number, Heartbeat>();
    for (let slot = 1; slot < SLOTS; slot++) {
      const at = slot * SLOT_INTS;
      const kind = THREAD_KINDS[Atomics.load(this.#ints, at + KIND) - 1];
      if (kind === undefined) continue;
      beats.set(slot, {
        kind,
        beats: Atomics.load(this.#ints, at + HEARTBEATS),
        step: MARKED_STEPS[Atomics.load(this.#ints, at + STEP)] ?? "none",
        id: this.#text(slot * SLOT_BYTES + ID_AT, ID_BYTES),
        detail: this.#text(slot * SLOT_BYTES + DETAIL_AT, DETAIL_BYTES),
      });
    }
    return beats;
  }

  /** Whether a thread has started and its last beat is more than two beats ago. */
  isLate(slot: number): boolean {
    const at = slot * SLOT_INTS;
    return Atomics.load(this.#ints, at + HEARTBEATS) > 0 &&
      secondsNow() - Atomics.load(this.#ints, at + HEARTBEAT_AT) > LATE_SECONDS;
  }

  /** The memory of a thread's own slot, to which it writes its marks. */
  ownMark(slot: number): OwnMark {
    return new OwnMark(this.buffer, slot * SLOT_BYTES);
  }

  /** Where a thread pauses the others, and they pause it. */
  pauseMemory(slot: number): PauseMemory {
    const threads = Array.from({ length: SLOTS - 1 }, (_, n) => (n + 1) * SLOT_INTS + ACCEPTING);
    return { ints: this.#ints, paused: PAUSED, threads, own: slot * SLOT_INTS + ACCEPTING };
  }

  /** Asks a thread to answer with its next beat. */
  askEnd(slot: number): void {
    Atomics.compareExchange(this.#ints, slot * SLOT_INTS + END, NOT_ENDING, REQUESTED);
  }

  /** Whether a thread has answered {@linkcode Heartbeats.askEnd}. */
  hasAnswered(slot: number): boolean {
    return Atomics.load(this.#ints, slot * SLOT_INTS + END) === ANSWERED;
  }

  /** Counts a stall of a kind of thread. */
  addStall(kind: ThreadKind): void {
    Atomics.add(this.#ints, STALLS + THREAD_KINDS.indexOf(kind), 1);
  }

  /** The number of stalls of a kind of thread so far. */
  stallsOf(kind: ThreadKind): number {
    return Atomics.load(this.#ints, STALLS + THREAD_KINDS.indexOf(kind));
  }

  /** Adds to the number of threads that did not answer a stop; a negative number subtracts. */
  addLost(count: number): void {
    Atomics.add(this.#ints, LOST, count);
  }

  /** The number of threads that did not answer a stop and have not ended since. */
  get lost(): number {
    return Atomics.load(this.#ints, LOST);
  }

  /** Whether the process is stopping, so that its time is limited. */
  get isStopping(): boolean {
    return Atomics.load(this.#ints, STOPPING) === 1;
  }

  /** Starts the time of a stop. */
  setStopping(): void {
    Atomics.store(this.#ints, STOPPING, 1);
  }

  #text(start: number, length: number): string {
    let text = "";
    for (let at = start; at < start + length && this.#bytes[at] !== 0; at++) {
      text += String.fromCharCode(this.#bytes[at] ?? 0);
    }
    return text;
  }
}

/** Where a thread writes the marks of its work. */
export class OwnMark {
  readonly #ints: Int32Array;
  readonly #bytes: Uint8Array;
  #id = "";
  #detail = "";

  /** Default: memory that nobody reads. */
  constructor(buffer: SharedArrayBuffer | ArrayBuffer = new ArrayBuffer(SLOT_BYTES), start = 0) {
    this.#ints = new Int32Array(buffer, start, SLOT_INTS);
    this.#bytes = new Uint8Array(buffer, start, SLOT_BYTES);
  }

  /** See `markWork`. */
  write(step: MarkedStep, id: string, detail: string): void {
    this.#ints[STEP] = STEP_NUMBERS[step];
    if (id !== this.#id) this.#writeText(this.#id = id, ID_AT, ID_BYTES);
    if (detail !== this.#detail) this.#writeText(this.#detail = detail, DETAIL_AT, DETAIL_BYTES);
  }

  #writeText(text: string, start: number, length: number): void {
    const end = Math.min(text.length, length);
    for (let at = 0; at < end; at++) this.#bytes[start + at] = text.charCodeAt(at);
    if (end < length) this.#bytes[start + end] = 0;
  }
}

const MAX_HEARTBEATS = 0x3fff_ffff;
const LATE_SECONDS = 3;

function secondsNow(): number {
  return Math.floor(Date.now() / 1_000) | 0;
}
