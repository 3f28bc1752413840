/** The strong entity tag of a body, in quotes (RFC 9110, 8.8.3). */
export declare function eTag(entity: string | Uint8Array): Promise<string>;
/** False when the `If-None-Match` value names the tag, so that 304 is the answer (RFC 9110, 13.1.2). */
export declare function ifNoneMatch(value: string | null, etag: string | undefined): boolean;
