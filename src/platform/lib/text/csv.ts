/** The media type of a table with a line of names. Source: RFC 4180, section 3. */
export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/**
 * A cell of text. A spreadsheet would run one that starts like a formula, so an apostrophe precedes it. Source: OWASP,
 * "CSV Injection".
 */
export function csvText(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Lines of cells that are written already. Source: RFC 4180, section 2. */
export function csvLines(rows: readonly (readonly string[])[]): string {
  return rows.map((cells) => `${cells.join(",")}\r\n`).join("");
}

/** A line of a table as it was read. */
export interface CsvLine {
  readonly cells: readonly string[];
  /** The number of its first line in the text, from 1. */
  readonly number: number;
}

/**
 * Reads a table, also one with semicolons or tabs. Empty lines are left out.
 *
 * @throws {RangeError} For a quote that does not end, with the number of its line.
 */
export function* readCsv(text: string): Generator<CsvLine> {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const separator = separatorIn(text.slice(start, text.indexOf("\n") < 0 ? undefined : text.indexOf("\n")));
  let cells: string[] = [];
  let cell = "";
  let [number, begunAt] = [1, 1];
  for (let at = start; at <= text.length; at++) {
    const sign = text[at];
    if (sign === '"' && cell === "") {
      const [value, end] = quotedAt(text, at, number);
      number += value.split("\n").length - 1;
      cell = value;
      at = end;
    } else if (sign === separator) {
      cells.push(cell);
      cell = "";
    } else if (sign === "\n" || sign === undefined) {
      cells.push(cell.replace(/\r$/, ""));
      if (cells.some((each) => each !== "")) yield { cells, number: begunAt };
      [cells, cell] = [[], ""];
      begunAt = ++number;
    } else cell += sign;
  }
}

function separatorIn(head: string): string {
  const counted = [",", ";", "\t"].map((sign) => [head.split(sign).length, sign] as const);
  return counted.reduce((best, each) => each[0] > best[0] ? each : best)[1];
}

/** The value of a quoted cell, and where it ends. */
function quotedAt(text: string, start: number, line: number): [value: string, end: number] {
  let value = "";
  let from = start + 1;
  // Ends with the text: each round begins behind a quote.
  for (;;) {
    const end = text.indexOf('"', from);
    if (end < 0) throw new RangeError(`Cannot read line ${line}: expected a quote at the end of a cell`);
    value += text.slice(from, end);
    if (text[end + 1] !== '"') return [value, end];
    value += '"';
    from = end + 2;
  }
}
