const PREFIX = /^[a-z][a-z0-9+._-]{0,15}:\/\/[A-Za-z0-9][A-Za-z0-9._-]{0,254}(\/[A-Za-z0-9._=@+ -]{1,255})*\/$/;

/** Whether a text is a bucket prefix: scheme, bucket, any folders, and a final slash. */
export function isBucketPrefix(text: string): boolean {
  return PREFIX.test(text) && !hasDots(text);
}

/**
 * Whether an object's address is below one of the prefixes. An ambiguous address never is: one with dot segments,
 * percent signs, backslashes, wildcards, a query, a fragment or control characters.
 *
 * @param address As the caller sent it: `gs://acme-media/a.png`. The case of the scheme does not matter.
 * @param prefixes Each valid by {@linkcode isBucketPrefix}.
 */
export function isInBucket(address: string, prefixes: readonly string[]): boolean {
  const colon = address.indexOf(":");
  const plain = address.slice(0, colon).toLowerCase() + address.slice(colon);
  if (/[%\\*?#[\]{}\p{Cc}]/u.test(plain) || hasDots(plain)) return false;
  if (plain.slice(colon + 3).includes("//")) return false;
  return prefixes.some((prefix) => plain.length > prefix.length && plain.startsWith(prefix));
}

function hasDots(address: string): boolean {
  return address.split("/").some((segment) => segment === "." || segment === "..");
}
