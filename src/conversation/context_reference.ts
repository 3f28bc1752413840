/**
 * What a reference leads to.
 *
 * - `response`, `conversation`, `thread`, `item`, `container`, `file`, `audio`: state that a vendor keeps and names in
 *   its replies.
 * - `prompt`, `vector_store`, `skill`, `voice`: state that the operator keeps at the vendor.
 * - `cached_content`: a cached content.
 * - `bucket`: an object in a bucket (`gs://`, `s3://` and the like), read with the operator's rights.
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

/** Context that a request names instead of carrying it. */
export interface ContextReference {
  /** What it leads to. */
  readonly kind: ReferenceKind;
  /** The id or address as it was sent. */
  readonly id: string;
  /** Where it stands, in the caller's spelling: `input[0].content[1].file_id`. */
  readonly field: string;
}
