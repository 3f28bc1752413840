/** Whether a text can name a provider: 1 to 64 lower-case letters, digits and `. _ -`. */
export function isProviderName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/.test(name);
}

/** What {@linkcode isProviderName} expects; continues a message after "expected". */
export const PROVIDER_NAME_EXPECTATION = "a name of 1 to 64 lower-case letters, digits and . _ -";
