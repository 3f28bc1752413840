/** Set by `deno task test:languages`, which installs the languages. */
const isWanted = Deno.env.has("SWITCHYARD_TEST_LANGUAGES");

/**
 * Registers a test that needs a language which a machine with Node may lack. `deno task test` ignores it, and
 * `deno task test:languages`, which names its file, runs it.
 */
export function languageTest(name: string, fn: () => Promise<void>): void {
  if (isWanted) Deno.test(name, fn);
  else Deno.test({ name: `${name} (ignored: deno task test:languages runs it)`, ignore: true, fn });
}
