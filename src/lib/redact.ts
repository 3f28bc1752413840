/** Removes what must never reach a caller or a log from a text that somebody else wrote. */
export type Redactor = (text: string) => string;

const PLACEHOLDER = "[redacted]";
const LONGEST_TEXT = 2_000;

/** Shapes of credentials as vendors print them, and of anything long enough to be media or an encoded secret. */
const SHAPES: readonly RegExp[] = [
  /\b(?:sk|pk|rk|xai|gsk|AIza|ya29|whsec)[-_.]?[A-Za-z0-9_\-.*]{12,}/g,
  /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=*-]{8,}/gi,
  /\b(?:org|proj|user)-[A-Za-z0-9]{12,}/g,
  /[?&](?:key|token|signature|sig|x-amz-[a-z-]+|x-goog-[a-z-]+)=[^&\s"']+/gi,
  /[A-Za-z0-9+/_-]{200,}={0,2}/g,
];

/**
 * A redactor that knows the configured secrets literally and the usual shapes of credentials. Its answers are at most
 * 2,000 characters. Source: `reliability` 2.11, row 172.
 *
 * @param secrets Keys as configured; those under 8 characters are too common to search for.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const literal = secrets.filter((secret) => secret.length >= 8);
  return (text) => {
    let clean = text;
    for (const secret of literal) clean = clean.replaceAll(secret, PLACEHOLDER);
    for (const shape of SHAPES) clean = clean.replace(shape, PLACEHOLDER);
    return clean.length > LONGEST_TEXT ? `${clean.slice(0, LONGEST_TEXT)}…` : clean;
  };
}
