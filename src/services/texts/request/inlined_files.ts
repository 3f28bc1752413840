import { Buffer, isUtf8 } from "node:buffer";
import { objectOf } from "../../../conversation/neutral/wire_value.ts";
import type { CallerFormatName } from "../../../conversation/neutral/reasoning_signature.ts";
import type { CarriedFile, NamedFile, NamedFilesIn } from "../../../conversation/contract/named_files.ts";
import { referencesIn } from "../../../conversation/contract/references.ts";
import { changedBody, JSON_MEMORY_FACTOR, type JsonBody } from "../../../platform/http/bodies/json_body.ts";
import { type Clock, waitAtMost } from "../../../platform/lib/basics/clock.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import { jsonTextOf, parseExactJson } from "../../../platform/lib/json/exact_json.ts";
import { mediaTypeOf } from "../../../platform/lib/media/media_type.ts";
import { Late } from "../../../platform/lib/process/late.ts";
import {
  findReferred,
  type ReadableFiles,
  readReferred,
  type ReferredFile,
} from "../../stored_files/file_reference.ts";
import { namedFileId, type StoredFileRecord } from "../../stored_files/stored_file.ts";
import type { NamingRequest, RequestFiles } from "./text_request.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** The dependencies of {@linkcode InlinedFiles}. */
export interface InlinedFilesParts {
  readonly stored: ReadableFiles;
  readonly clock: Pick<Clock, "after">;
  /** The bytes that the files of one request may have together. */
  readonly maxBytes: number;
  /**
   * Answers a request whose body would have more than these bytes with its files, from the body as it was received.
   * Null if no other thread does.
   */
  readonly elsewhere: { readonly aboveBytes: number; readonly answer: AnswerElsewhere } | null;
  /** Receives the size of the files of a request before they are read. It may refuse them. Default: nothing does. */
  readonly onFiles?: (bytes: number) => void;
}

/** Answers a request in another thread. */
export type AnswerElsewhere = (request: NamingRequest) => Promise<Response>;

/**
 * The maximum bytes of the files of one request: with 50 million characters of base64, more than vendors accept. Media
 * that the gateway downloads have the same limit.
 */
export const MAX_INLINE_BYTES = 37_500_000;
/** The number of places of one request that name files. */
const MAX_FILES = 20;
/** A thread that parses a large request is replaced after a minute, so a slow storage must be given up before. */
const READ_MS = 30_000;

/** Loaded by the first request of a format that names a file. */
const FORMATS: Readonly<Record<CallerFormatName, Late<NamedFilesIn>>> = {
  chat: new Late(async () => (await import("../../../conversation/codecs/chat/caller/named_files.ts")).chatFilesIn),
  responses: new Late(async () =>
    (await import("../../../conversation/codecs/responses/caller/named_files.ts")).responsesFilesIn
  ),
  messages: new Late(async () =>
    (await import("../../../conversation/codecs/messages/caller/named_files.ts")).messagesFilesIn
  ),
  content: new Late(async () =>
    (await import("../../../conversation/codecs/content/caller/named_files.ts")).contentFilesIn
  ),
};

/**
 * Puts stored files into requests, in the format of the caller, before anything else reads these. So a file is checked,
 * priced, translated and sent as one that the caller has sent.
 */
export class InlinedFiles implements RequestFiles {
  constructor(readonly parts: InlinedFilesParts) {}

  /** See {@linkcode RequestFiles.answer}. */
  async answer(request: NamingRequest, answer: (json: JsonBody) => Promise<Response>): Promise<Response> {
    const { inbound: { memory }, json, format } = request;
    const find = await FORMATS[format.name].load();
    const found = await this.#find(find(json.outline), request);
    if (found.length === 0) {
      this.#refuseOthers(json, request);
      return await answer(json);
    }
    const bytes = this.#sizeOf(found);
    const addedBytes = Math.ceil(bytes / 3) * 4;
    const { elsewhere } = this.parts;
    if (elsewhere !== null && json.bytes.length + addedBytes > elsewhere.aboveBytes) {
      return await elsewhere.answer(request);
    }
    this.parts.onFiles?.(bytes);
    memory.reserve(addedBytes * JSON_MEMORY_FACTOR);
    const contents = await this.#read(found);
    const whole = objectOf(parseExactJson(new TextDecoder().decode(json.bytes), true)) ?? {};
    for (const named of find(whole)) {
      const content = contents.get(namedFileId(named.id) ?? "");
      if (content !== undefined) named.put(content);
    }
    const changed = changedBody(json, new Uint8Array(Buffer.from(jsonTextOf(whole))), memory);
    this.#refuseOthers(changed, request);
    return await answer(changed);
  }

  /** @throws {GatewayError} `not_found` for a file that another key has stored, or nobody. */
  async #find(named: readonly NamedFile[], { credential: { keyId } }: NamingRequest): Promise<ReferredFile[]> {
    const own = named.filter(({ id }) => namedFileId(id) !== null);
    if (own.length > MAX_FILES) {
      throw invalidField(own[MAX_FILES]?.field ?? "", `expected at most ${MAX_FILES} files in a request`);
    }
    const found: ReferredFile[] = [];
    for (const { id, field } of own) {
      found.push(await findReferred(this.parts.stored, keyId, { id, field }));
    }
    return found;
  }

  /** The bytes of all files. @throws {GatewayError} `request_too_large`, naming the file that exceeds the limit. */
  #sizeOf(found: readonly ReferredFile[]): number {
    const { maxBytes } = this.parts;
    let sum = 0;
    for (const { field, file: { bytes } } of found) {
      sum += bytes;
      if (sum <= maxBytes) continue;
      throw new GatewayError(
        "request_too_large",
        `Cannot use "${field}": the file has ${bytes} bytes, and the files of a request may have at most ${maxBytes} ` +
          "bytes together",
        { field },
      );
    }
    return sum;
  }

  /** The contents by the ids of their files, each read once. */
  async #read(found: readonly ReferredFile[]): Promise<ReadonlyMap<string, CarriedFile>> {
    const contents = new Map<string, CarriedFile>();
    const reading = (async () => {
      for (const referred of found) {
        const { id } = referred.file;
        if (!contents.has(id)) contents.set(id, await this.#contentOf(referred));
      }
      return contents;
    })();
    await waitAtMost(this.parts.clock, READ_MS, reading);
    if (found.every(({ file }) => contents.has(file.id))) return contents;
    reading.catch(() => {}); // it was given up
    throw new GatewayError("storage_unavailable", "Cannot read the files of the request: the storage is too slow", {
      retryAfterSeconds: 5,
    });
  }

  async #contentOf(referred: ReferredFile): Promise<CarriedFile> {
    const { file, field } = referred;
    const bytes = await readReferred(this.parts.stored, referred);
    return { mediaType: await typeOf(file, bytes, field), bytes, name: file.filename };
  }

  /** Files in other places, such as the container of a vendor's tool, would have to be stored at the vendor. */
  #refuseOthers({ outline }: JsonBody, { format: { grammar } }: NamingRequest): void {
    const other = referencesIn(grammar, outline).find(({ kind, id }) => kind === "file" && namedFileId(id) !== null);
    if (other === undefined) return;
    throw invalidField(other.field, "a stored file can be used in the content of a message only");
  }
}

/** The media types of texts by the endings of their names. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  csv: "text/csv",
  htm: "text/html",
  html: "text/html",
  json: "application/json",
  md: "text/markdown",
};

/** The media type of a file by its content. Of a text, the name tells which. */
async function typeOf({ filename }: StoredFileRecord, bytes: Uint8Array, field: string): Promise<string> {
  const mediaType = await mediaTypeOf(bytes);
  if (mediaType !== null && mediaType !== "application/xml") return mediaType;
  if (isUtf8(bytes) && !bytes.includes(0)) {
    return ownValue(TEXT_TYPES, filename.toLowerCase().split(".").pop() ?? "") ?? "text/plain";
  }
  throw invalidField(
    field,
    "the type of the file is unknown: expected an image, a document, a sound, or text in UTF-8",
  );
}
