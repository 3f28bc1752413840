import { deflateRawSync, inflateRawSync } from "node:zlib";

/** How one type of record is compacted. Entries must never change for fields that are already stored. */
export interface CompactFields<T> {
  /** Fields by their stored names of one or two letters. Other fields are stored under their own names. */
  readonly names: Readonly<Record<string, keyof T & string>>;
  /** Default values. A field with its default value is not stored; reading restores it. */
  readonly usual: Partial<T>;
}

/**
 * Converts records to compact bytes and back. A record may contain plain objects, lists, text, numbers and bigints.
 */
export interface CompactRecords<T> {
  /** @param tail Bytes to store after the record, such as a body. Default: none. */
  write(record: T, tail?: Uint8Array): Uint8Array<ArrayBuffer>;
  read(bytes: Uint8Array): { readonly record: T; readonly tail: Uint8Array<ArrayBuffer> };
}

/** The first byte, which states the encoding of the rest. */
const DEFLATED_JSON = 1;
/** Ends the record. JSON text on one line contains no line feed. */
const LINE_FEED = 10;
/** Prefix of a text that encodes another type, or that starts with this character itself. */
const MARK = "\0";

/**
 * Creates an encoder that stores records as deflated JSON. Four small rows fit one database page, and a row over a
 * quarter of a page takes a page of its own. Field names and repeated ids are a large part of a record.
 *
 * @throws {RangeError} From `write`, if a field's name equals a short name.
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
      if (bytes[0] !== DEFLATED_JSON) throw new Error("Cannot read a record: a newer version wrote it");
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
