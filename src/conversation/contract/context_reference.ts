/**
 * What a reference points to.
 *
 * - `response`, `conversation`, `thread`, `item`, `container`, `file`, `audio`: state that a vendor stores and names in
 *   its replies.
 * - `prompt`, `vector_store`, `skill`, `voice`: state that the operator stores at the vendor.
 * - `cached_content`: a cached content.
 * - `bucket`: an object in a bucket (`gs://`, `s3://` and the like), read with the operator's permissions.
 * - `asset`: an address in a vendor's own store (`asset://`, `mm_file://`, any other scheme).
 * - `address`: a public http or https address that the vendor fetches.
 */
export type ReferenceKind =
  | "response"
  | "conversation"
  | "thread"
  | "item"
  | "container"
  | "file"
  | "audio"
  | "prompt"
  | "vector_store"
  | "skill"
  | "voice"
  | "cached_content"
  | "bucket"
  | "asset"
  | "address";

/** A reference in a request to content that the request does not contain. */
export interface ContextReference {
  /** What it points to. */
  readonly kind: ReferenceKind;
  /** The id or address as it was sent. */
  readonly id: string;
  /** The path of the reference, in the caller's spelling: `input[0].content[1].file_id`. */
  readonly field: string;
}
