import { JsonCursor } from "../../../platform/lib/json/json_cursor.ts";

/**
 * A vector in the text of a JSON reply. Its bytes are used as they are, because parsing a long list of vectors would
 * delay other requests.
 */
export interface Vector {
  /** `float`: a JSON list of numbers. `base64`: 32-bit floats, little-endian, in base64. */
  readonly encoding: "float" | "base64";
  /** The list with its brackets, or the base64 text without quotes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The names of a vendor's reply. */
export interface VectorListNames {
  /** The list of objects at the top level. */
  readonly list: string;
  /** The object in each of them that has the vector. Default: each has it itself. */
  readonly within?: string;
  /** The vector. */
  readonly vector: string;
  /** What is reported beside each vector. Default: nothing. */
  readonly statistics?: string;
  /** The usage at the top level. */
  readonly usage: string;
}

/** A read reply. */
export interface VectorList {
  /** In the order of the inputs. */
  readonly vectors: readonly Vector[];
  /** What is reported beside each vector, parsed; undefined where there is nothing. */
  readonly statistics: readonly unknown[];
  /** Parsed; undefined if there is none. */
  readonly usage: unknown;
}

/** A vector of 65,536 numbers as text. */
export const MAX_VECTOR_BYTES = 2_000_000;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DECODER = new TextDecoder();

/**
 * Reads a reply with a list of vectors. It yields to other work while it reads.
 *
 * @param count The expected number of vectors.
 * @throws {TypeError | SyntaxError} If the reply is not valid, or has not exactly one vector for each input, all of the
 * same length.
 */
export async function readVectorList(
  bytes: Uint8Array<ArrayBuffer>,
  names: VectorListNames,
  count: number,
): Promise<VectorList> {
  const cursor = new JsonCursor(bytes);
  let items: readonly ReadItem[] | null = null;
  let usage: unknown;
  for (const name of cursor.members()) {
    if (name === names.usage) usage = cursor.value();
    else if (name === names.list) items = await readItems(cursor, count, () => readItem(cursor, names));
    else await cursor.skip();
    await cursor.pause();
  }
  cursor.end();
  if (items === null) throw new TypeError("The reply has no list of vectors");
  return {
    vectors: items.map(({ vector }) => vector),
    statistics: items.map(({ statistics }) => statistics),
    usage,
  };
}

/** The vector of one input. */
interface ReadItem {
  readonly vector: MeasuredVector;
  /** The number of the input. Default: the place in the list. */
  readonly index?: number;
  readonly statistics?: unknown;
}

/** A vector and its length. */
interface MeasuredVector extends Vector {
  /** The number of numbers. */
  readonly numbers: number;
}

/** Reads a list with one item for each input. */
async function readItems(
  cursor: JsonCursor,
  count: number,
  read: () => Promise<ReadItem>,
): Promise<readonly ReadItem[]> {
  const byInput = new Array<ReadItem | undefined>(count);
  let items = 0;
  for (const nth of cursor.items()) {
    items++;
    const item = await read();
    const { index = nth } = item;
    if (index >= count || byInput[index] !== undefined) throw new TypeError("The reply has other indexes");
    byInput[index] = item;
    await cursor.pause();
  }
  if (items !== count) throw new TypeError("The reply has another number of vectors");
  const given = byInput.filter((item) => item !== undefined);
  if (new Set(given.map(({ vector }) => vector.numbers)).size > 1) {
    throw new TypeError("The vectors have different lengths");
  }
  return given;
}

async function readItem(cursor: JsonCursor, names: VectorListNames): Promise<ReadItem> {
  const { within, ...inner } = names;
  let item: Partial<ReadItem> = {};
  for (const name of cursor.members()) {
    if (within !== undefined && name === within) item = { ...item, ...await readItem(cursor, inner) };
    else if (within === undefined && name === names.vector) item = { ...item, vector: await readVector(cursor) };
    else if (name === names.statistics) item = { ...item, statistics: cursor.value() };
    else if (name === "index") item = { ...item, index: readIndex(cursor.value()) };
    else await cursor.skip();
    await cursor.pause();
  }
  const { vector, ...rest } = item;
  if (vector === undefined) throw new TypeError("An item of the reply has no vector");
  return { vector, ...rest };
}

/** The names of a reply with vectors that are in no objects. */
export interface BareVectorNames {
  /** A vector, or a list of vectors, or an object that has one of them. */
  readonly vectors: string;
  /** The member of such an object. Default: `float`. */
  readonly member?: string;
  /** The usage at the top level. Default: there is none. */
  readonly usage?: string;
}

/**
 * Reads a reply with vectors that are in no objects, like {@linkcode readVectorList}.
 *
 * @throws {TypeError | SyntaxError} As there.
 */
export async function readBareVectors(
  bytes: Uint8Array<ArrayBuffer>,
  names: BareVectorNames,
  count: number,
): Promise<VectorList> {
  const cursor = new JsonCursor(bytes);
  let items: readonly ReadItem[] | null = null;
  let usage: unknown;
  const readAny = async () =>
    cursor.isAtListOfLists
      ? await readItems(cursor, count, async () => ({ vector: await readVector(cursor) }))
      : [{ vector: await readVector(cursor) }];
  for (const name of cursor.members()) {
    if (name === names.usage) usage = cursor.value();
    else if (name !== names.vectors) await cursor.skip();
    else if (cursor.isAtObject) {
      for (const member of cursor.members()) {
        if (member === (names.member ?? "float")) items = await readAny();
        else await cursor.skip();
        await cursor.pause();
      }
    } else items = await readAny();
    await cursor.pause();
  }
  cursor.end();
  if (items === null || items.length !== count) throw new TypeError("The reply has another number of vectors");
  return { vectors: items.map(({ vector }) => vector), statistics: items.map(() => undefined), usage };
}

function readIndex(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) throw new TypeError("An index is no index");
  return value;
}

async function readVector(cursor: JsonCursor): Promise<MeasuredVector> {
  const isText = cursor.isAtString;
  if (!isText && !cursor.isAtList) throw new TypeError("A vector is neither a list nor base64");
  const whole = await cursor.skip();
  if (whole.length > MAX_VECTOR_BYTES) throw new TypeError(`A vector has more than ${MAX_VECTOR_BYTES} bytes`);
  if (!isText) return { encoding: "float", bytes: whole, numbers: numbersIn(whole) };
  const bytes = whole.subarray(1, -1);
  if (bytes.length === 0 || bytes.length % 4 !== 0 || !BASE64.test(DECODER.decode(bytes))) {
    throw new TypeError("A vector is not base64");
  }
  // Four bytes for each number.
  return { encoding: "base64", bytes, numbers: Math.floor(bytes.length * 3 / 16) };
}

/**
 * The number of numbers of a list, at least one.
 *
 * @throws {TypeError} If it has a text, a literal or a list.
 */
function numbersIn(list: Uint8Array): number {
  let numbers = 1;
  let isEmpty = true;
  let areNumbers = true;
  for (let at = 1; at < list.length - 1 && areNumbers; at++) {
    const byte = list[at] ?? 0;
    const isDigit = byte >= 0x30 && byte <= 0x39;
    if (isDigit) isEmpty = false;
    else if (byte === 0x2c) {
      areNumbers = !isEmpty;
      isEmpty = true;
      numbers++;
    } else areNumbers = isSign(byte);
  }
  if (areNumbers && !isEmpty) return numbers;
  throw new TypeError("A vector has values other than numbers");
}

/** Whether a byte other than a digit can be in a number, or is space. */
function isSign(byte: number): boolean {
  return byte === 0x2d || byte === 0x2e || byte === 0x65 || byte === 0x45 || byte === 0x2b || byte === 0x20 ||
    byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * The vector in an encoding: the same, or converted.
 *
 * @throws {TypeError} If it cannot be converted, because it has values that are not finite.
 */
export function encodedVector(vector: Vector, encoding: Vector["encoding"]): Vector {
  if (vector.encoding === encoding) return vector;
  return encoding === "base64" ? toBase64(vector) : toNumbers(vector);
}

const ENCODER = new TextEncoder();

function toBase64({ bytes }: Vector): Vector {
  const numbers: readonly number[] = JSON.parse(DECODER.decode(bytes));
  const view = new DataView(new ArrayBuffer(numbers.length * 4));
  numbers.forEach((each, nth) => view.setFloat32(nth * 4, finite(Math.fround(each)), true));
  return { encoding: "base64", bytes: ENCODER.encode(new Uint8Array(view.buffer).toBase64()) };
}

function toNumbers({ bytes }: Vector): Vector {
  const raw = Uint8Array.fromBase64(DECODER.decode(bytes));
  if (raw.length % 4 !== 0) throw new TypeError("A vector is not a list of 32-bit floats");
  const view = new DataView(raw.buffer, raw.byteOffset, raw.length);
  const numbers = Array.from({ length: raw.length / 4 }, (_, nth) => finite(view.getFloat32(nth * 4, true)));
  return { encoding: "float", bytes: ENCODER.encode(`[${numbers.join()}]`) };
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new TypeError("A vector has a value that is not finite");
  return value;
}
