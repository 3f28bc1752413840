import { createHash } from "node:crypto";
import type { Credential } from "../../money/billing/keys/key_ring.ts";
import { GatewayError } from "../../platform/lib/basics/gateway_error.ts";
import type { Money } from "../../platform/lib/basics/money.ts";
import { scanJson } from "../../platform/lib/json/json.ts";
import { MAX_INPUT_VALUES, refuseManyValues } from "../../platform/http/bodies/json_body.ts";
import { TurnPace } from "../../platform/lib/streams/turn_pace.ts";
import { MAX_STORED_FILE_BYTES } from "../stored_files/stored_file.ts";
import { BATCH_LIMITS, type BatchRecord, type LineError } from "./records/batch.ts";
import { linesOf, writeStoredLine } from "./lines/input_lines.ts";
import type { LineFormat } from "./lines/line_format.ts";
import type { LineRunner } from "./lines/line_runner.ts";

/** Blank lines of a file, so that one of line feeds alone has an end before it was read. */
const MAX_BLANK_LINES = BATCH_LIMITS.lines;
/** Objects and lists of a line. They take far longer to parse than a text, and the thread is everyone's. */
const MAX_CONTAINERS = 20_000;
/** A shorter line cannot have so many of them. */
const MIN_COUNTED_BYTES = 2 * MAX_CONTAINERS;
/** Errors are a part of the record of a batch, whose size every store limits, and can repeat what a caller wrote. */
const MAX_ERROR_CHARACTERS = { message: 200, param: 64 };

/** What a file of lines has. */
export interface ReadInput {
  readonly total: number;
  /** The lines that vendors run in batches of their own. */
  readonly vendorLines: number;
  readonly estimate: Money;
  /** That of all lines; null if they name several. */
  readonly model: string | null;
}

/** A file of lines has mistakes. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError";

  /** @param errors The first ones, at least one. */
  constructor(readonly errors: readonly LineError[]) {
    super("The lines of the batch are invalid");
  }

  /** The first error, for callers who get no failed batch. */
  refusalOf({ inputFileId }: Pick<BatchRecord, "inputFileId">, { inputFields }: LineFormat): GatewayError {
    const [first, ...others] = this.errors;
    const { message = "", line = null, param = null } = first ?? {};
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    const isInline = inputFileId === null;
    const whole = isInline ? inputFields.list : inputFields.file;
    const place = isInline ? `${whole}[${Number(line) - 1}]` : `line ${line}`;
    const field = line === null || !isInline ? whole : param === null ? place : `${place}.${param}`;
    const subject = line === null ? "the lines" : place;
    return new GatewayError("invalid_request", `Cannot accept ${subject}: ${message}${more}`, { field });
  }
}

/** The options of {@linkcode InputReader}. */
export interface InputReaderOptions {
  readonly endpoint: string;
  readonly credential: Credential;
  readonly runner: Pick<LineRunner, "estimate">;
  readonly format: LineFormat;
  /** As in the record of the batch. */
  readonly betas?: string | undefined;
  readonly maxLineBytes: number;
}

/** Checks the lines of a file while it is read, and estimates them. */
export class InputReader {
  readonly #options: InputReaderOptions;
  readonly #errors: LineError[] = [];
  /** Hashes of custom ids, so that long ones take little memory. */
  readonly #customIds = new Set<string>();
  #total = 0;
  #vendorLines = 0;
  #estimate = 0n;
  /** Of the stored files that the lines name. */
  #fileBytes = 0;
  #model: string | null | undefined;

  constructor(options: InputReaderOptions) {
    this.#options = options;
  }

  /** What was read, after the last line. */
  get result(): ReadInput {
    return { total: this.#total, vendorLines: this.#vendorLines, estimate: this.#estimate, model: this.#model ?? null };
  }

  /**
   * Yields the lines as the run reads them.
   *
   * @throws {InvalidInputError} At the end, or when too many lines are invalid.
   * @throws {GatewayError} If the check of a line fails for a reason that is none of the line.
   */
  async *stored(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const pace = new TurnPace();
    let line = 0;
    let blank = 0;
    for await (const bytes of this.#lines(chunks)) {
      line++;
      const turn = pace.note();
      if (turn !== null) await turn;
      if (isBlank(bytes)) {
        if (++blank <= MAX_BLANK_LINES) continue;
        this.#fail("too_many_tasks", `expected at most ${MAX_BLANK_LINES} empty lines`, null);
        throw new InvalidInputError(this.#errors);
      }
      if (++this.#total > BATCH_LIMITS.lines) {
        this.#fail("too_many_tasks", `expected at most ${BATCH_LIMITS.lines} lines`, null);
        throw new InvalidInputError(this.#errors);
      }
      const stored = await this.#read(bytes, line);
      if (stored !== null && this.#errors.length === 0) yield stored;
      if (this.#errors.length >= BATCH_LIMITS.errors) break;
    }
    if (this.#total === 0) this.#fail("empty_file", "expected at least one line", null);
    if (this.#errors.length > 0) throw new InvalidInputError(this.#errors);
  }

  async *#lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      yield* linesOf(chunks, this.#options.maxLineBytes);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "request_too_large") throw error;
      this.#total++;
      this.#fail("invalid_json_line", error.message, null);
    }
  }

  async #read(bytes: Uint8Array<ArrayBuffer>, line: number): Promise<Uint8Array<ArrayBuffer> | null> {
    const { endpoint, credential, runner, format, betas } = this.#options;
    let within = "";
    try {
      await refuseLongParse(bytes);
      const { customId, body, model } = format.read(bytes, endpoint);
      const hash = createHash("sha256").update(customId).digest("base64").slice(0, 22);
      if (format.hasUniqueIds && this.#customIds.has(hash)) {
        this.#fail("duplicate_custom_id", `The custom_id "${customId}" is used twice`, line, "custom_id");
        return null;
      }
      this.#customIds.add(hash);
      within = format.requestField === null ? "" : `${format.requestField}.`;
      const request = { endpoint, credential, body, model, betas, onFiles: this.#addFiles };
      const { part, route } = await runner.estimate(request);
      if (route !== null) this.#vendorLines++;
      this.#estimate += part;
      this.#model = this.#model === undefined || this.#model === model ? model : null;
      return writeStoredLine({ part, customId, route, body });
    } catch (error) {
      if (!(error instanceof GatewayError) || !isOfLine(error)) throw error;
      const { field } = error.details;
      const code = field === "url" ? "invalid_url" : error.code === "invalid_request" ? "invalid_request" : error.code;
      this.#fail(code, messageOfLine(error), line, field === undefined ? undefined : within + field);
      return null;
    }
  }

  /** The check of a line reads its files, so their size is bounded as that of the lines is. */
  readonly #addFiles = (bytes: number): void => {
    this.#fileBytes += bytes;
    if (this.#fileBytes <= MAX_STORED_FILE_BYTES) return;
    throw new GatewayError(
      "request_too_large",
      `Cannot use the files of the line: those of all lines may have at most ${MAX_STORED_FILE_BYTES} bytes together`,
    );
  };

  #fail(code: string, message: string, line: number | null, param: string | undefined = undefined): void {
    this.#errors.push({
      code,
      message: shown(message, "message"),
      line,
      param: param === undefined ? null : shown(param, "param"),
    });
  }
}

/** Mistakes in the JSON of a line are found as those of a body are, whose lines are others. */
function messageOfLine({ message }: GatewayError): string {
  return message.replace(/^Cannot read the body/, "Cannot read the line").replace(/ \(line \d+, column \d+\)$/, "");
}

/** A refusal by the gateway's own state says nothing about the line. */
function isOfLine({ status }: GatewayError): boolean {
  return status < 500 && status !== 429 && status !== 401;
}

/** @throws {GatewayError} `invalid_request` for a line that takes too long to parse. */
async function refuseLongParse(bytes: Uint8Array): Promise<void> {
  if (bytes.length < MIN_COUNTED_BYTES) return;
  await refuseManyValues(bytes, { maxValues: MAX_INPUT_VALUES });
  if (containersIn(bytes) <= MAX_CONTAINERS) return;
  throw new GatewayError(
    "invalid_request",
    `Cannot read the line: expected at most ${MAX_CONTAINERS} JSON objects and lists`,
  );
}

/** A text that cannot be scanned is refused when it is read. */
function containersIn(bytes: Uint8Array): number {
  try {
    return scanJson(bytes).containers;
  } catch {
    return 0;
  }
}

/** Half as much of a text whose characters take two bytes. */
function shown(text: string, part: keyof typeof MAX_ERROR_CHARACTERS): string {
  const max = MAX_ERROR_CHARACTERS[part] / (/[\u0100-\uffff]/.test(text) ? 2 : 1);
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09);
}
