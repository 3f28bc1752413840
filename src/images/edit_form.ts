import { Buffer } from "node:buffer";
import type { Spooled, SpoolRoom, SpoolWriter } from "../files/spool.ts";
import { type BodyLimits, type BodySource, chunksOf } from "../http/body.ts";
import { readForm } from "../http/multipart.ts";
import { boundaryOf, type PartHead } from "../http/multipart_head.ts";
import { GatewayError, invalidField } from "../lib/gateway_error.ts";

/** What an edit request's body may hold. */
export interface EditFormLimits {
  /** The whole body. */
  readonly body: BodyLimits;
  /** The most bytes of one file. */
  readonly fileBytes: number;
}

/** A form as it came: the fields we know, and the uploads put aside. */
export interface EditForm {
  /** Texts by field; a field that was left out or left empty is missing. */
  readonly fields: ReadonlyMap<string, string>;
  /** In the order in which they came. */
  readonly images: readonly Spooled[];
  readonly mask: Spooled | null;
}

/** Source: SPEC "Image edit request"; OpenAI API reference, "Create image edit", for what SPEC does not name. */
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
/** Clients write a list in either way. */
const IMAGE_FIELDS: readonly string[] = ["image", "image[]"];
const LONGEST_TEXT_BYTES = 262_144;
/**
 * Memory that a form costs, whatever its length: a few pieces on their way, the texts, and uploads of less than 64 KiB.
 * Larger uploads go to files.
 */
const FORM_MEMORY_BYTES = 4 * 1_048_576;

/**
 * Reads an edit's form while it comes, putting uploads aside piece by piece. Parts of other names are passed over,
 * `extra_body` among them (SPEC "Provider routing"). Whoever calls clears the room.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large` or `overloaded`, as soon as it is certain.
 */
export async function readEditForm(source: BodySource, limits: EditFormLimits, room: SpoolRoom): Promise<EditForm> {
  const { request, memory } = source;
  memory.take(FORM_MEMORY_BYTES);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const form = new FormBuilder(limits.fileBytes, room);
  for await (const event of readForm(chunksOf(request, limits.body), boundary)) {
    if (event.type === "head") form.begin(event.head);
    else if (event.type === "data") await form.take(event.bytes);
    else form.endPart();
  }
  return form.finish();
}

/** A part being read: an upload, a text, or neither. */
type OpenPart =
  | { readonly kind: "file"; readonly field: string; readonly writer: SpoolWriter }
  | { readonly kind: "text"; readonly field: string; readonly pieces: Buffer[]; length: number }
  | { readonly kind: "unknown" };

class FormBuilder {
  readonly #fields = new Map<string, string>();
  readonly #images: Spooled[] = [];
  #mask: Spooled | null = null;
  #part: OpenPart = { kind: "unknown" };

  constructor(readonly fileBytes: number, readonly room: SpoolRoom) {}

  begin({ name, isFile }: PartHead): void {
    this.#part = { kind: "unknown" };
    const isImage = IMAGE_FIELDS.includes(name);
    if (isImage || name === "mask") {
      const field = isImage ? `image[${this.#images.length}]` : "mask";
      if (!isFile) throw early(invalidField(field, "expected a file upload, got text"));
      if (!isImage && this.#mask) throw early(invalidField("mask", "expected one file, got two"));
      this.#part = { kind: "file", field, writer: this.room.begin() };
    } else if (TEXT_FIELDS.has(name)) {
      if (isFile) throw early(invalidField(name, "expected text, got a file upload"));
      this.#part = { kind: "text", field: name, pieces: [], length: 0 };
    }
  }

  async take(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const part = this.#part;
    if (part.kind === "file") {
      if (part.writer.lengthBytes + bytes.length > this.fileBytes) throw tooLarge(part.field, this.fileBytes);
      await part.writer.write(bytes);
    } else if (part.kind === "text") {
      part.length += bytes.length;
      if (part.length > LONGEST_TEXT_BYTES) throw tooLarge(part.field, LONGEST_TEXT_BYTES);
      part.pieces.push(Buffer.from(bytes)); // a copy
    }
  }

  endPart(): void {
    const part = this.#part;
    if (part.kind === "file") {
      const upload = part.writer.finish();
      if (part.field === "mask") this.#mask = upload;
      else this.#images.push(upload);
    } else if (part.kind === "text") this.#endText(part.field, Buffer.concat(part.pieces));
    this.#part = { kind: "unknown" };
  }

  finish(): EditForm {
    if (this.#images.length === 0) throw invalidField("image", "expected at least one file upload");
    return { fields: this.#fields, images: this.#images, mask: this.#mask };
  }

  #endText(field: string, bytes: Buffer): void {
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch (cause) {
      throw early(invalidField(field, "expected text in UTF-8", { cause }));
    }
    const known = this.#fields.get(field);
    // Another reader could take the other one: routed and billed as one, served as the other.
    if (known !== undefined && known !== text) throw early(invalidField(field, "expected it once, got two values"));
    if (text !== "") this.#fields.set(field, text);
  }
}

/** The refusal of a body that still comes: its connection cannot be used again. */
function early({ code, message, details }: GatewayError): GatewayError {
  return new GatewayError(code, message, { ...details, closeConnection: true });
}

function tooLarge(field: string, mostBytes: number): GatewayError {
  return new GatewayError("request_too_large", `Cannot read "${field}": expected at most ${mostBytes} bytes`, {
    field,
    closeConnection: true,
  });
}
