import { GatewayError } from "../../../platform/lib/basics/gateway_error.ts";
import { FileReference } from "../../../platform/lib/media/sent_media.ts";
import {
  findReferred,
  openReferred,
  type ReadableFiles,
  readReferred,
  type ReferredFile,
} from "../../stored_files/file_reference.ts";
import type { StoredFileRecord } from "../../stored_files/stored_file.ts";
import type { OpenedContent } from "../../stored_files/stored_files.ts";
import { MAX_MEDIA_BYTES } from "../request/media_publishing.ts";
import type { SentReference } from "../request/references.ts";

/** The stored files that the references of a request name. */
export class ReferenceFiles {
  private constructor(
    private readonly stored: ReadableFiles,
    private readonly found: ReadonlyMap<FileReference, ReferredFile>,
  ) {}

  /**
   * Finds the files, without their contents.
   *
   * @throws {GatewayError} `not_found` if the key has no such file; `invalid_request` if it is empty;
   * `request_too_large` if it is larger than media that are fetched.
   */
  static async find(
    stored: ReadableFiles,
    keyId: string,
    references: readonly (SentReference | null)[],
  ): Promise<ReferenceFiles> {
    const found = new Map<FileReference, ReferredFile>();
    for (const reference of references) {
      const { url, medium } = reference ?? {};
      if (!(url instanceof FileReference) || medium === undefined) continue;
      const referred = await findReferred(stored, keyId, url);
      const { file: { bytes }, field } = referred;
      if (bytes > MAX_MEDIA_BYTES[medium]) {
        throw new GatewayError(
          "request_too_large",
          `Cannot use "${field}": the file has ${bytes} bytes, expected at most ${MAX_MEDIA_BYTES[medium]}`,
          { field },
        );
      }
      found.set(url, referred);
    }
    return new ReferenceFiles(stored, found);
  }

  /** The record of a file. */
  fileOf(reference: FileReference): StoredFileRecord {
    return this.#of(reference).file;
  }

  /** See {@linkcode openReferred}. */
  open(reference: FileReference): Promise<OpenedContent> {
    return openReferred(this.stored, this.#of(reference));
  }

  /** See {@linkcode readReferred}. */
  readAll(reference: FileReference): Promise<Uint8Array<ArrayBuffer>> {
    return readReferred(this.stored, this.#of(reference));
  }

  #of(reference: FileReference): ReferredFile {
    const referred = this.found.get(reference);
    if (referred === undefined) throw new Error(`The file of "${reference.field}" was not looked for`);
    return referred;
  }
}
