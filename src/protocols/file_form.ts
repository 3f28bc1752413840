import { type BodyLimits, type BodySource, chunksOf } from "../platform/http/bodies/body.ts";
import { closingError, FormText } from "../platform/http/bodies/form_text.ts";
import { type FormEvent, readForm } from "../platform/http/bodies/multipart.ts";
import { boundaryOf } from "../platform/http/bodies/multipart_head.ts";
import { invalidField } from "../platform/lib/basics/gateway_error.ts";

/** How {@linkcode readFileForm} reads a form. */
export interface FileFormOptions<Stored> {
  readonly limits: BodyLimits;
  /** The name of the part with the content. */
  readonly fileField: string;
  /** The names of text fields; others are ignored. */
  readonly texts: ReadonlySet<string>;
  /** Stores the content while it arrives. It must read the source to its end, or throw. */
  readonly store: (source: AsyncIterable<Uint8Array>) => Promise<Stored>;
  /** Removes what was stored, if the form turns out to be invalid. */
  readonly discard: (stored: Stored) => Promise<void>;
}

/** A form with one file, whose content is stored. */
export interface FileForm<Stored> {
  /** Texts by field; a missing or empty field has no entry. */
  readonly fields: ReadonlyMap<string, string>;
  /** As the caller sent it, without folders; empty if there was none. */
  readonly fileName: string;
  /** The type of the part as it was sent, without its parameters. Absent: none, or an invalid one. */
  readonly mediaType?: string;
  readonly stored: Stored;
}

/** The memory of a form of any size: a few chunks in transit, and the texts. */
const FORM_MEMORY_BYTES = 4 * 1_048_576;

/**
 * Reads a form with one file. Its content is stored while it arrives, so it takes no memory and is written once.
 *
 * @throws {GatewayError} `invalid_request`, `request_too_large` or `overloaded`, and what `store` throws. Nothing stays
 * stored then.
 */
export async function readFileForm<Stored>(
  { request, memory }: BodySource,
  { limits, fileField, texts, store, discard }: FileFormOptions<Stored>,
): Promise<FileForm<Stored>> {
  memory.reserve(FORM_MEMORY_BYTES);
  const boundary = boundaryOf(request.headers.get("content-type"));
  const events = readForm(chunksOf(request, limits), boundary);
  const fields = new Map<string, string>();
  let found: Omit<FileForm<Stored>, "fields"> | null = null;
  try {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      if (next.value.type !== "head") continue; // of a part that is ignored
      const { name, isFile, fileName = "", mediaType } = next.value.head;
      if (name === fileField) {
        if (!isFile) throw closingError(invalidField(name, "expected a file upload, got text"));
        if (found !== null) throw closingError(invalidField(name, "expected one file"));
        found = { stored: await store(partOf(events)), fileName, ...mediaType !== undefined && { mediaType } };
      } else if (texts.has(name)) {
        if (isFile) throw closingError(invalidField(name, "expected text, got a file upload"));
        const text = new FormText(name);
        for await (const bytes of partOf(events)) text.add(bytes);
        text.enter(fields);
      }
    }
    if (found === null) throw invalidField(fileField, "expected a file");
    return { fields, ...found };
  } catch (error) {
    await events.return();
    if (found !== null) await discard(found.stored);
    throw error;
  }
}

/** The bytes of the part whose head was the last event. */
async function* partOf(
  events: AsyncGenerator<FormEvent, void>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let next = await events.next(); !next.done && next.value.type !== "end"; next = await events.next()) {
    if (next.value.type === "data") yield next.value.bytes;
  }
}
