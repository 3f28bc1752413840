import type { RequestSpool, Spooled, SpoolWriter } from "../files/spool.ts";
import { type BodyLimits, type BodySource, chunksOf } from "../http/body.ts";
import { closingError, fieldTooLarge, FormText } from "../http/form_text.ts";
import { readForm } from "../http/multipart.ts";
import { boundaryOf, type PartHead } from "../http/multipart_head.ts";
import { invalidField } from "../lib/gateway_error.ts";

/** The limits of an edit request's body. */
export interface EditFormLimits {
  /** The whole body. */
  readonly body: BodyLimits;
  /** The maximum size of one file. */
  readonly fileBytes: number;
}

/** A received form: the known fields, and the stored uploads. */
export interface EditForm {
  /** Texts by field; a missing or empty field has no entry. */
  readonly fields: ReadonlyMap<string, string>;
  /** In the order of the form. */
  readonly images: readonly Spooled[];
  readonly mask: Spooled | null;
}

/** Source: docs/api/images.md#edits; OpenAI API reference, "Create image edit", for the other fields. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "prompt",
  "quality",
  "n",
  "size",
  "output_format",
  "background",
  "input_fidelity",
  "stream",
  "partial_images",
]);
/** Clients write a list with either name. */
const IMAGE_FIELDS: readonly string[] = ["image", "image[]"];
/**
 * The memory of a form of any size: a few chunks in transit, the texts, and uploads below 64 KiB. Larger uploads are
 * stored in files.
 */
const FORM_MEMORY_BYTES = 4 * 1_048_576;

/**
 * Reads an edit's form as it arrives and stores uploads in chunks. Parts with other names are ignored, including
 * `extra_body` (docs/api/routing.md#pin). The caller of this function clears the spool.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large` or `overloaded`, as early as possible.
 */
export async function readEditForm(source: BodySource, limits: EditFormLimits, room: RequestSpool): Promise<EditForm> {
  const { request, memory } = source;
  memory.reserve(FORM_MEMORY_BYTES);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const form = new FormBuilder(limits.fileBytes, room);
  for await (const event of readForm(chunksOf(request, limits.body), boundary)) {
    if (event.type === "head") form.begin(event.head);
    else if (event.type === "data") await form.take(event.bytes);
    else form.endPart();
  }
  return form.finish();
}

/** The part being read: an upload, a text, or ignored. */
type OpenPart =
  | { readonly kind: "file"; readonly field: string; readonly writer: SpoolWriter }
  | { readonly kind: "text"; readonly text: FormText }
  | { readonly kind: "unknown" };

class FormBuilder {
  readonly #fields = new Map<string, string>();
  readonly #images: Spooled[] = [];
  #mask: Spooled | null = null;
  #part: OpenPart = { kind: "unknown" };

  constructor(readonly fileBytes: number, readonly room: RequestSpool) {}

  begin({ name, isFile }: PartHead): void {
    this.#part = { kind: "unknown" };
    const isImage = IMAGE_FIELDS.includes(name);
    if (isImage || name === "mask") {
      const field = isImage ? `image[${this.#images.length}]` : "mask";
      if (!isFile) throw closingError(invalidField(field, "expected a file upload, got text"));
      if (!isImage && this.#mask) throw closingError(invalidField("mask", "expected one file, got two"));
      this.#part = { kind: "file", field, writer: this.room.create() };
    } else if (TEXT_FIELDS.has(name)) {
      if (isFile) throw closingError(invalidField(name, "expected text, got a file upload"));
      this.#part = { kind: "text", text: new FormText(name) };
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
    if (part.kind === "file") {
      const upload = part.writer.finish();
      if (part.field === "mask") this.#mask = upload;
      else this.#images.push(upload);
    } else if (part.kind === "text") part.text.enter(this.#fields);
    this.#part = { kind: "unknown" };
  }

  finish(): EditForm {
    if (this.#images.length === 0) throw invalidField("image", "expected at least one file upload");
    return { fields: this.#fields, images: this.#images, mask: this.#mask };
  }
}
