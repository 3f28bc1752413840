import { closeSync, openSync } from "node:fs";

/** Systems whose descriptors are numbered from the lowest free one, as POSIX requires of `open`. */
const IS_POSIX = Deno.build.os !== "windows";
const LIMITS = "file:///proc/self/limits";

/** The limit of open files; null if the system has none or does not report it. Deno raises it to the hard limit. */
export async function descriptorLimit(): Promise<number | null> {
  try {
    // Read as a module, since `Deno.readTextFile` reads `/proc` only with all permissions.
    const { default: text } = await import(LIMITS, { with: { type: "text" } }) as { readonly default: string };
    const match = /^Max open files\s+(\d+)/m.exec(text);
    return match === null ? null : Number(match[1]);
  } catch {
    return null; // not Linux, or not permitted
  }
}

/** Whether so many descriptors are free now. */
export function hasFreeDescriptors(count: number): boolean {
  return openSome(count, Infinity).length === count;
}

/** What is opened to get a descriptor: the first that can be. A minimal container may have no devices. */
const OPENED = ["/dev/null", "/"];

/**
 * Opens descriptors and closes them again. Takes about ten microseconds each.
 *
 * @param below The number at which it stops, so that some are left for other threads.
 * @returns The numbers of those that were free, ascending. All, if nothing can be opened for another reason than a
 * limit.
 */
function openSome(count: number, below: number): number[] {
  if (IS_POSIX) {
    for (const path of OPENED) {
      const opened = openSomeOf(path, count, below);
      if (opened !== null) return opened;
    }
  }
  return Array.from({ length: count }, (_, number) => number);
}

/** As {@linkcode openSome} for one path; null if it cannot be opened for another reason than a limit. */
function openSomeOf(path: string, count: number, below: number): number[] | null {
  const opened: number[] = [];
  let isAtLimit = true;
  try {
    while (opened.length < count && (opened.at(-1) ?? 0) < below) opened.push(openSync(path, "r"));
  } catch (error) {
    isAtLimit = error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
  }
  for (const descriptor of opened) closeSync(descriptor);
  return isAtLimit || opened.length > 0 ? opened : null;
}

/** How many descriptors a process has open. */
export interface MeasuredDescriptors {
  /** Their number, or less while most are free. */
  readonly used: number;
  /** The share of the limit, from 0 to 1. Where the limit is not known: 1 if few are free, else 0. */
  readonly share: number;
}

/** From this share of the limit on, it is measured by more than the lowest free descriptor. */
const MANY = 0.8;
const MAX_OPENED = 1_024;
/** The highest descriptors, which a measurement leaves to other threads. */
const LEFT = 16;
/** The free descriptors that count as enough where the limit is not known. */
const ENOUGH_FREE = 128;

/**
 * Measures how many descriptors this process has open. `/proc/self/fd` could be listed with all permissions only, so
 * descriptors are opened: the system returns the lowest that is free. All below it are in use. Those above it are known
 * to be free while it was never higher.
 */
export class DescriptorUse {
  /** Descriptors with a higher number were not in use when they were last looked at. */
  #highest = 0;

  /** @param limit Of {@linkcode descriptorLimit}. */
  constructor(readonly limit: number | null) {}

  /** Measures now. */
  measure(): MeasuredDescriptors {
    const used = this.#used();
    if (this.limit !== null) return { used, share: used / this.limit };
    return { used, share: hasFreeDescriptors(ENOUGH_FREE) ? 0 : 1 };
  }

  #used(): number {
    const limit = this.limit ?? Infinity;
    const [lowest = limit] = openSome(1, Infinity);
    this.#highest = Math.max(this.#highest, lowest);
    if (this.#highest < MANY * limit || limit === Infinity) return lowest;
    const count = Math.min(Math.ceil((1 - MANY) * limit), MAX_OPENED);
    const free = openSome(count, limit - LEFT);
    const last = free.at(-1);
    if (last === undefined) return limit;
    if (free.length < count && last < limit - LEFT) return limit - free.length;
    if (free.length === count) this.#highest = last;
    return last + 1 - free.length;
  }
}
