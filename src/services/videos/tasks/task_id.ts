import { randomBytes } from "node:crypto";
import { risingInstants } from "../../../platform/lib/basics/ids.ts";

const nextInstant = risingInstants(0xfff);

/**
 * Creates a task id: a UUID version 7 (RFC 9562, 5.7), so ids sort by time of creation. Ids of one process always
 * increase, even if the clock moves backwards.
 *
 * @param nowMs Unix milliseconds.
 */
export function newTaskId(nowMs: number): string {
  const { ms, count } = nextInstant(nowMs);
  const random = randomBytes(8);
  random.writeUInt8(0x80 | (random.readUInt8(0) & 0x3f), 0);
  const tail = random.toString("hex");
  const time = ms.toString(16).padStart(12, "0");
  const counter = `7${count.toString(16).padStart(3, "0")}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${counter}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

/** Whether a text can be a task id; upper case is invalid. */
export function isTaskId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);
}

const ID_LENGTH = 36;

/** Returns the task id that a file name starts with; null if there is none. */
export function taskIdIn(fileName: string): string | null {
  const id = fileName.slice(0, ID_LENGTH);
  return isTaskId(id) ? id : null;
}
