import type { RequestSpool, Spooled, SpoolWriter } from "../../platform/files/spool.ts";
import { type BodyLimits, type BodySource, chunksOf } from "../../platform/http/bodies/body.ts";
import { closingError, fieldTooLarge, FormText } from "../../platform/http/bodies/form_text.ts";
import { readForm } from "../../platform/http/bodies/multipart.ts";
import { boundaryOf, type PartHead } from "../../platform/http/bodies/multipart_head.ts";
import { invalidField } from "../../platform/lib/basics/gateway_error.ts";

/** The limits of a form with uploads. */
export interface UploadFormLimits {
  /** The whole body. */
  readonly body: BodyLimits;
  /** The maximum size of one file. */
  readonly fileBytes: number;
}

/** The known parts of a form. Parts with other names are ignored. */
export interface UploadFormParts {
  readonly texts: ReadonlySet<string>;
  /** Texts that may be sent several times. Default: none. */
  readonly lists?: ReadonlySet<string>;
  /**
   * The field of an upload, for errors; null if the part is no upload.
   *
   * @param uploads Those before it.
   * @throws {GatewayError} If the form may have no further upload of that name.
   */
  readonly uploadField: (name: string, uploads: readonly Upload[]) => string | null;
}

/** An upload of a form. */
export interface Upload {
  /** The name of its part. */
  readonly name: string;
  readonly file: Spooled;
}

/** A received form: the known fields, and the stored uploads. */
export interface UploadForm {
  /** Texts by field; a missing or empty field has no entry. */
  readonly fields: ReadonlyMap<string, string>;
  /** The texts of {@linkcode UploadFormParts.lists}, by field, in the order of the form. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** In the order of the form. */
  readonly uploads: readonly Upload[];
  /** The names of ignored parts. */
  readonly unknown: ReadonlySet<string>;
}

/**
 * The memory of a form of any size: a few chunks in transit, the texts, and uploads below 64 KiB. Larger uploads are
 * stored in files.
 */
const FORM_MEMORY_BYTES = 4 * 1_048_576;
/** The maximum number of values of one list. */
const MAX_VALUES = 20;

/**
 * Reads a form as it arrives and stores uploads in chunks. The caller of this function clears the spool.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large` or `overloaded`, as early as possible.
 */
export async function readUploadForm(
  source: BodySource,
  { limits, parts, room }: {
    readonly limits: UploadFormLimits;
    readonly parts: UploadFormParts;
    readonly room: RequestSpool;
  },
): Promise<UploadForm> {
  const { request, memory } = source;
  memory.reserve(FORM_MEMORY_BYTES);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const form = new FormBuilder(parts, limits.fileBytes, room);
  for await (const event of readForm(chunksOf(request, limits.body), boundary)) {
    if (event.type === "head") form.begin(event.head);
    else if (event.type === "data") await form.take(event.bytes);
    else form.endPart();
  }
  return form;
}

/** The part being read: an upload, a text, or ignored. */
type OpenPart =
  | { readonly kind: "file"; readonly name: string; readonly field: string; readonly writer: SpoolWriter }
  | { readonly kind: "text"; readonly text: FormText; readonly isList: boolean }
  | { readonly kind: "unknown" };

class FormBuilder implements UploadForm {
  readonly fields = new Map<string, string>();
  readonly lists = new Map<string, string[]>();
  readonly uploads: Upload[] = [];
  readonly unknown = new Set<string>();
  #part: OpenPart = { kind: "unknown" };

  constructor(readonly parts: UploadFormParts, readonly fileBytes: number, readonly room: RequestSpool) {}

  begin({ name, isFile }: PartHead): void {
    this.#part = { kind: "unknown" };
    const { texts, lists, uploadField } = this.parts;
    const field = uploadField(name, this.uploads);
    const isList = lists?.has(name) ?? false;
    if (field !== null) {
      if (!isFile) throw closingError(invalidField(field, "expected a file upload, got text"));
      this.#part = { kind: "file", name, field, writer: this.room.create() };
    } else if (isList || texts.has(name)) {
      if (isFile) throw closingError(invalidField(name, "expected text, got a file upload"));
      this.#part = { kind: "text", text: new FormText(name), isList };
    } else {
      this.unknown.add(name);
    }
  }

  async take(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const part = this.#part;
    if (part.kind === "file") {
      if (part.writer.lengthBytes + bytes.length > this.fileBytes) throw fieldTooLarge(part.field, this.fileBytes);
      await part.writer.write(bytes);
    } else if (part.kind === "text") {
      part.text.add(bytes);
    }
  }

  endPart(): void {
    const part = this.#part;
    if (part.kind === "file") this.uploads.push({ name: part.name, file: part.writer.finish() });
    else if (part.kind === "text" && !part.isList) part.text.enter(this.fields);
    else if (part.kind === "text") this.#addToList(part.text);
    this.#part = { kind: "unknown" };
  }

  #addToList(text: FormText): void {
    const { field } = text;
    const read = new Map<string, string>();
    text.enter(read);
    const values = this.lists.get(field) ?? [];
    if (values.length >= MAX_VALUES) throw closingError(invalidField(field, `expected at most ${MAX_VALUES} values`));
    this.lists.set(field, [...values, ...read.values()]);
  }
}
