import { isFileName } from "../files.ts";
import type { BucketClient } from "./bucket_client.ts";
import { BucketError } from "./bucket_error.ts";
import { finish, headOf } from "./object_head.ts";
import { elementsIn, encode, textIn } from "./xml.ts";

/** The most parts of one upload that are sent at the same time. */
const MAX_IN_FLIGHT = 2;

/** A large file while it is uploaded. It is invisible until it is complete. */
export class MultipartUpload {
  readonly #client: BucketClient;
  readonly #name: string;
  readonly #id: string;
  readonly #etags: string[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | null = null;
  #count = 0;
  #bytes = 0;

  private constructor(client: BucketClient, name: string, id: string) {
    this.#client = client;
    this.#name = name;
    this.#id = id;
  }

  /** Starts an upload. */
  static async start(
    client: BucketClient,
    name: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<MultipartUpload> {
    const answer = await client.document({ method: "POST", name, query: { uploads: "" }, headers });
    const id = textIn(answer, "UploadId");
    if (id === null) throw new BucketError(client.settings, "MissingUploadId", 200);
    return new MultipartUpload(client, name, id);
  }

  /** Sends the next part, once fewer than two are under way. Throws the error of an earlier one. */
  async add(part: Uint8Array<ArrayBuffer>): Promise<void> {
    // Ends when a part is sent: no other is started meanwhile.
    while (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight);
    this.#throwFailure();
    this.#bytes += part.length;
    const sending: Promise<void> = this.#send(++this.#count, part)
      .catch((error) => void (this.#failure ??= { error }))
      .finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  /** Makes the file visible. */
  async complete(): Promise<void> {
    await Promise.all(this.#inFlight);
    this.#throwFailure();
    const parts = this.#etags.map((etag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${encode(etag)}</ETag></Part>`
    );
    const body = new TextEncoder().encode(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`);
    try {
      const query = { uploadId: this.#id };
      const headers = { "content-type": "application/xml" };
      const answer = await this.#client.document({ method: "POST", name: this.#name, query, headers, body });
      // An error during a long completion has the status 200.
      const code = /<Error>/.test(answer) ? textIn(answer, "Code") ?? "InternalError" : null;
      if (code !== null) throw new BucketError(this.#client.settings, code, 200);
    } catch (error) {
      // A repeated request finds no upload if the first one succeeded and its answer was lost.
      const isGone = error instanceof BucketError && error.code === "NoSuchUpload";
      if (!isGone || (await headOf(this.#client, this.#name))?.bytes !== this.#bytes) throw error;
    }
  }

  /** Removes all parts. Never fails: what is left is removed as a stale upload. */
  async abort(): Promise<void> {
    await Promise.all(this.#inFlight);
    await abortUpload(this.#client, this.#name, this.#id).catch(() => {});
  }

  async #send(number: number, body: Uint8Array<ArrayBuffer>): Promise<void> {
    const query = { partNumber: String(number), uploadId: this.#id };
    const response = await this.#client.send({ method: "PUT", name: this.#name, query, body });
    const etag = response.head.get("etag");
    await finish(this.#client, response);
    if (etag === null) throw new BucketError(this.#client.settings, "MissingETag", response.status);
    this.#etags[number - 1] = etag;
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** Removes the parts of uploads that started before an instant in Unix milliseconds and were never completed. */
export async function removeStaleUploads(client: BucketClient, before: number): Promise<void> {
  const { prefix } = client.settings;
  let marker: Record<string, string> | null = {};
  // Ends with the last page of the bucket.
  while (marker !== null) {
    const query: Record<string, string> = { uploads: "", prefix, ...marker };
    const page: string = await client.document({ method: "GET", name: null, query });
    for (const item of elementsIn(page, "Upload")) {
      const name = (textIn(item, "Key") ?? "").slice(prefix.length);
      const id = textIn(item, "UploadId");
      const startedAt = Date.parse(textIn(item, "Initiated") ?? "");
      if (isFileName(name) && id !== null && startedAt <= before) await abortUpload(client, name, id);
    }
    marker = textIn(page, "IsTruncated") === "true"
      ? {
        "key-marker": textIn(page, "NextKeyMarker") ?? "",
        "upload-id-marker": textIn(page, "NextUploadIdMarker") ?? "",
      }
      : null;
  }
}

async function abortUpload(client: BucketClient, name: string, id: string): Promise<void> {
  try {
    await finish(client, await client.send({ method: "DELETE", name, query: { uploadId: id } }));
  } catch (error) {
    if (!(error instanceof BucketError && error.status === 404)) throw error;
  }
}
