import { crc32 } from "node:zlib";

/**
 * A record of a journal is a line feed, the CRC-32 of its text as eight hexadecimal digits, a space, and the text, in
 * which there is no line feed. The line feed comes first, so that a half-written record never hides the record after
 * it. The checksum tells whether a record is whole.
 */
const LINE_FEED = 10;
const SPACE = 32;
const CHECKSUM_DIGITS = 8;
const HEADER_BYTES = 1 + CHECKSUM_DIGITS + 1;
const MIN_BUFFER_BYTES = 4_096;
/** UTF-8 takes at most three bytes for a UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
const DIGITS = new TextEncoder().encode("0123456789abcdef");

/** Writes records into a buffer that is reused. */
export class RecordEncoder {
  readonly #encoder = new TextEncoder();
  #buffer = new Uint8Array(MIN_BUFFER_BYTES);
  /** The part of the buffer behind the header. */
  #text = this.#buffer.subarray(HEADER_BYTES);

  /**
   * The bytes of a record, valid until the next call.
   *
   * @param text Without line feeds.
   */
  encode(text: string): Uint8Array {
    const maxBytes = HEADER_BYTES + MAX_BYTES_PER_UNIT * text.length;
    if (maxBytes > this.#buffer.length) {
      this.#buffer = new Uint8Array(2 * maxBytes);
      this.#text = this.#buffer.subarray(HEADER_BYTES);
    }
    const buffer = this.#buffer;
    const { written } = this.#encoder.encodeInto(text, this.#text);
    buffer[0] = LINE_FEED;
    writeHex(buffer, crc32(this.#text.subarray(0, written)));
    buffer[HEADER_BYTES - 1] = SPACE;
    return buffer.subarray(0, HEADER_BYTES + written);
  }
}

/** What the bytes of a segment say. */
export interface DecodedRecords {
  /** The texts of all whole records, in order. */
  readonly texts: readonly string[];
  /** Bytes that belong to no whole record, apart from a record at the end that is cut short. */
  readonly damagedBytes: number;
}

/**
 * Reads the records of a segment. Bytes that are no record are skipped up to the next line feed. An incomplete record
 * at the end is not damage: its writer was stopped before the write was complete.
 */
export function decodeRecords(bytes: Uint8Array): DecodedRecords {
  const texts: string[] = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let damagedBytes = 0;
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    if (isRecord(line)) texts.push(decoder.decode(line.subarray(HEADER_BYTES - 1)));
    else if (found >= 0 || !isStartOfRecord(line)) damagedBytes += line.length;
    start = end + 1;
  }
  return { texts, damagedBytes };
}

function isRecord(line: Uint8Array): boolean {
  if (line.length < HEADER_BYTES - 1 || line[CHECKSUM_DIGITS] !== SPACE) return false;
  const expected = new Uint8Array(HEADER_BYTES);
  writeHex(expected, crc32(line.subarray(HEADER_BYTES - 1)));
  for (let i = 0; i < CHECKSUM_DIGITS; i++) if (line[i] !== expected[i + 1]) return false;
  return true;
}

function isStartOfRecord(line: Uint8Array): boolean {
  return line.subarray(0, CHECKSUM_DIGITS).every((byte) => DIGITS.includes(byte)) &&
    (line.length <= CHECKSUM_DIGITS || line[CHECKSUM_DIGITS] === SPACE) && !line.includes(0);
}

/** Writes a checksum after the line feed. */
function writeHex(buffer: Uint8Array, checksum: number): void {
  for (let i = 0; i < CHECKSUM_DIGITS; i++) {
    buffer[1 + i] = DIGITS[(checksum >>> (28 - 4 * i)) & 15] ?? 0;
  }
}
