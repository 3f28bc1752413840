import { Buffer } from "node:buffer";

/**
 * The lines of a stream of events as Latin-1 text, in which one character is one byte, so that no cut through a
 * character of several bytes can hurt. Lines end in LF, CR or CRLF (WHATWG HTML, 9.2.6).
 */

/** A stretch of text that gives way to another. */
export interface LineEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** One line: where it begins, where the next one begins, and what it says. */
export interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Bytes as Latin-1. */
export function latin1Of(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/** The bytes of a Latin-1 text. */
export function bytesOfLatin1(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text, "latin1") as Uint8Array<ArrayBuffer>;
}

/** The text that a Latin-1 stretch of UTF-8 bytes says. */
export function textOfLatin1(text: string): string {
  return Buffer.from(text, "latin1").toString();
}

/** The lines of a text; its end counts as the end of the last. */
export function linesIn(text: string): Line[] {
  const lines: Line[] = [];
  const ends = /\r\n|\r|\n/g;
  for (let start = 0; start < text.length;) {
    ends.lastIndex = start;
    const found = ends.exec(text);
    const end = found ? ends.lastIndex : text.length;
    lines.push({ start, end, text: text.slice(start, found ? found.index : end) });
    start = end;
  }
  return lines;
}

/** The text with its edits made, which stand in its order. */
export function edited(text: string, edits: readonly LineEdit[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, text: replacement } of edits) {
    result += text.slice(from, start) + replacement;
    from = end;
  }
  return result + text.slice(from);
}

/** Whether a text, or the end of one, leaves no frame open. Nothing at all does not. */
export function endsFrame(tail: string): boolean {
  return tail === "" || /(?:\n\n|\r\r|\r\n\r\n|\n\r\n)$/.test(tail);
}
