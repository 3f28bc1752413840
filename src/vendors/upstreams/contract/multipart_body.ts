import type { ImageSource } from "./image_upstream.ts";
import type { OutboundBody } from "../call/outbound_body.ts";

/** A form field: text, or an image as a file. */
export type FormField =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly file: FormFile; readonly filename: string };

/** A file in a form. */
export type FormFile = Pick<ImageSource, "mediaType" | "lengthBytes" | "open">;

const encoder = new TextEncoder();

/**
 * Creates a `multipart/form-data` body (RFC 7578) with the fields in their order. Its length is known in advance. Files
 * are read while the body is sent, so that they are never completely in memory.
 *
 * @throws {TypeError} If a name or a filename contains a quote or a control character.
 */
export function multipartBody(fields: readonly FormField[]): OutboundBody {
  // Random, so that no content can contain it.
  const boundary = `switchyard-${crypto.randomUUID()}`;
  const parts = fields.map((field) => ({ head: encoder.encode(headOf(field, boundary)), content: contentOf(field) }));
  const end = encoder.encode(`--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    lengthBytes: parts.reduce((sum, { head, content }) => sum + head.length + content.lengthBytes + 2, end.length),
    async *open() {
      for (const { head, content } of parts) {
        yield head;
        yield* content.open();
        yield LINE_END;
      }
      yield end;
    },
  };
}

const LINE_END = encoder.encode("\r\n");

function headOf(field: FormField, boundary: string): string {
  const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${quotable(field.name)}"`;
  if ("text" in field) return `${disposition}\r\n\r\n`;
  const { filename, file } = field;
  return `${disposition}; filename="${quotable(filename)}"\r\nContent-Type: ${quotable(file.mediaType)}\r\n\r\n`;
}

function contentOf(field: FormField): { readonly lengthBytes: number; open(): AsyncIterable<Uint8Array> } {
  if ("file" in field) return field.file;
  const bytes = encoder.encode(field.text);
  return {
    lengthBytes: bytes.length,
    async *open() {
      yield bytes;
    },
  };
}

function quotable(name: string): string {
  if (!/^[\x20-\x7e]*$/.test(name) || name.includes('"')) {
    throw new TypeError("Cannot write the form field: invalid name");
  }
  return name;
}
