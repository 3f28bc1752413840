/**
 * Where the files of this program are. A bundle (`scripts/bundle.ts`) has the modules that threads start with in the
 * folders of the source, and all other code, this file included, at its top.
 */

/** Whether this program runs from a bundle: in an executable, or in a package. */
export const IS_BUNDLED: boolean = !import.meta.url.endsWith(".ts");

const SOURCE = new URL(IS_BUNDLED ? "./src/" : "../../../", import.meta.url);

/**
 * The modules that threads start with, by their paths below `src`. Nothing imports them, so each bundle has to name
 * them.
 */
export const THREAD_MODULES = [
  "entry/app/threads/serving_thread",
  "entry/cli/process/config_entry",
  "entry/cli/process/launcher_entry",
  "entry/cli/process/watch_entry",
  "vendors/prices/price_entry",
  "observers/request_log/postgres/log_entry",
  "observers/request_log/sqlite/log_entry",
  "platform/http/bodies/body_entry",
  "platform/store/journal/journal_entry",
  "services/texts/large_replies/reply_entry",
  "platform/workers/media_entry",
  "platform/workers/token_entry",
] as const;

/** A module that a thread starts with. */
export type ThreadModule = typeof THREAD_MODULES[number];

let moduleOf = (path: ThreadModule): URL => new URL(`${path}${IS_BUNDLED ? ".js" : ".ts"}`, SOURCE);

/** The address of a module that a thread starts with. */
export function threadModule(path: ThreadModule): URL {
  return moduleOf(path);
}

/** Lets threads that are started from now on run other modules. For programs of tests alone. */
export function replaceThreadModules(replace: (path: ThreadModule, address: URL) => URL): void {
  const before = moduleOf;
  moduleOf = (path) => replace(path, before(path));
}

/** The address of a file at the top of a bundle, such as `console.json`. A repository has none. */
export function bundledFile(name: string): URL {
  return new URL(`./${name}`, import.meta.url);
}
