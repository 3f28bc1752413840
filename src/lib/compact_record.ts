import { deflateRawSync, inflateRawSync } from "node:zlib";

/** What a kind of record is made compact with. Neither ever changes for fields that were stored. */
export interface CompactFields<T> {
  /** Fields by the names that stand for them, one or two letters each. Others keep their own names. */
  readonly names: Readonly<Record<string, keyof T & string>>;
  /** Fields that are left out while they have this value, and have it again when they are read. */
  readonly usual: Partial<T>;
}

/**
 * Records as compact bytes, and back. Whatever structured clone keeps of plain objects, lists, text, numbers and
 * bigints.
 */
export interface CompactRecords<T> {
  /** @param tail Bytes that are kept behind the record, such as a body. Default: none. */
  write(record: T, tail?: Uint8Array): Uint8Array<ArrayBuffer>;
  read(bytes: Uint8Array): { readonly record: T; readonly tail: Uint8Array<ArrayBuffer> };
}

/** The first byte: how the rest is written. */
const DEFLATED_JSON = 1;
/** Ends the record; JSON text has none. */
const LINE_FEED = 10;
/** Begins a text that stands for something else, or that begins so itself. */
const MARK = "\0";

/**
 * Records as deflated JSON. A database page holds four small rows, while one beyond a quarter of it takes a page of its
 * own; names of fields and repeated ids are a good part of a record.
 *
 * @throws {RangeError} From `write`, for a field that is called as a short name is.
 */
export function compactRecords<T extends object>({ names, usual }: CompactFields<T>): CompactRecords<T> {
  const shortNames = new Map(Object.entries(names).map(([short, name]) => [name as string, short]));
  const usualTexts = new Map(Object.entries(usual).map(([name, value]) => [name, JSON.stringify(value)]));
  const shortNameOf = (name: string) => {
    if (Object.hasOwn(names, name)) {
      throw new RangeError(`Cannot store a field "${name}": it stands for "${names[name]}"`);
    }
    return shortNames.get(name) ?? name;
  };
  return {
    write(record, tail = new Uint8Array()) {
      const kept = Object.entries(record).flatMap(([name, value]) =>
        usualTexts.has(name) && JSON.stringify(value, writeValue) === usualTexts.get(name)
          ? []
          : [[shortNameOf(name), value] as const]
      );
      const head = new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept), writeValue));
      const whole = new Uint8Array(head.length + 1 + tail.length);
      whole.set(head);
      whole[head.length] = LINE_FEED;
      whole.set(tail, head.length + 1);
      const deflated = deflateRawSync(whole);
      const bytes = new Uint8Array(deflated.length + 1);
      bytes[0] = DEFLATED_JSON;
      bytes.set(deflated, 1);
      return bytes;
    },
    read(bytes) {
      if (bytes[0] !== DEFLATED_JSON) throw new Error("Cannot read a record: it was written by a newer version");
      const whole = new Uint8Array(inflateRawSync(bytes.subarray(1)));
      const end = whole.indexOf(LINE_FEED);
      const stored = JSON.parse(new TextDecoder().decode(whole.subarray(0, end)), readValue) as Record<string, unknown>;
      const fields = Object.entries(stored).map((
        [name, value],
      ) => [Object.hasOwn(names, name) ? names[name] : name, value]);
      return { record: { ...usual, ...Object.fromEntries(fields) } as T, tail: whole.slice(end + 1) };
    },
  };
}

function writeValue(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${MARK}n${value}`;
  return typeof value === "string" && value.startsWith(MARK) ? `${MARK}s${value}` : value;
}

function readValue(_name: string, value: unknown): unknown {
  if (typeof value !== "string" || !value.startsWith(MARK)) return value;
  return value[1] === "n" ? BigInt(value.slice(2)) : value.slice(2);
}
