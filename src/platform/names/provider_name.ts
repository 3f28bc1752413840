/** Whether a text can name a provider: 1 to 64 lower-case letters, digits and `. _ -`. */
export function isProviderName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name);
}

/**
 * The id of a provider with one of its credentials: `openai#team-a`. A provider without named credentials has its name
 * as id. Candidates, circuits, limits and records of state at a vendor use ids.
 */
export function providerIdOf(name: string, credential: string | null): string {
  return credential === null ? name : `${name}#${credential}`;
}

/** The configured name of a provider, from its id. */
export function providerNameOf(id: string): string {
  const end = id.indexOf("#");
  return end < 0 ? id : id.slice(0, end);
}

/** The name of the credential in a provider's id; null if it has none. */
export function credentialOf(id: string): string | null {
  const end = id.indexOf("#");
  return end < 0 ? null : id.slice(end + 1);
}

/** What {@linkcode isProviderName} expects; continues a message after "expected". */
export const PROVIDER_NAME_EXPECTATION = "a name of 1 to 64 lower-case letters, digits and . _ -";
