import type { HttpResponse } from "../../net/http1/response.ts";
import type { StoredFile } from "../files.ts";
import { servedTypeOf } from "../served_type.ts";
import type { BucketClient } from "./bucket_client.ts";
import { BucketError } from "./bucket_error.ts";

/** The facts about an object. */
export type Head = Pick<StoredFile, "bytes" | "mediaType" | "etag" | "modifiedAt">;

/** The facts about an object; null if there is none. */
export async function headOf(client: BucketClient, name: string): Promise<Head | null> {
  try {
    const response = await client.send({ method: "HEAD", name });
    response.cancel();
    const { head } = response;
    return {
      bytes: Number(head.get("content-length") ?? 0),
      mediaType: servedTypeOf(head.get("content-type")),
      etag: head.get("etag") ?? "",
      modifiedAt: Date.parse(head.get("last-modified") ?? "") || 0,
    };
  } catch (error) {
    // A missing bucket has the same status, without a body. The start checks that the bucket exists.
    if (error instanceof BucketError && error.status === 404) return null;
    throw error;
  }
}

/** Reads a response to its end, so that its connection can be used again. */
export async function finish(client: BucketClient, response: HttpResponse): Promise<void> {
  while (await client.read(response) !== null);
}
