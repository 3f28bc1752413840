/**
 * How Deno runs the gateway in production, in packages as in `deno task start`. Executables contain the flags, but not
 * the environment.
 */

/** What the gateway needs at run time: sockets, files at configured paths, the environment and the machine's limits. */
export const PERMISSIONS: readonly string[] = [
  "--allow-net",
  "--allow-env",
  "--allow-read",
  "--allow-write",
  "--allow-sys=uid,statfs,systemMemoryInfo",
];

/** The features of Deno that `deno.json` switches on, except the bundler, which builds need. */
export const UNSTABLE: readonly string[] = [
  "--unstable-kv",
  "--unstable-cron",
  "--unstable-net",
  "--unstable-no-legacy-abort",
];

/**
 * Modules are read when they are imported, not when a module names them that could import them later. Not for `deno
 * compile`, which would leave them out. Source: docs/decisions/0146-idle-memory.md.
 */
export const LAZY_OPTION = "--unstable-lazy-dynamic-imports";

/** The options of V8. Source: docs/decisions/0061, 0104 and 0348. */
export const V8_OPTION =
  "--v8-flags=--memory-reducer-delay-ms=30000,--no-allocation-site-pretenuring,--no-incremental-marking-task";

/** Deno does not ask its maker for a newer version, since a gateway sends nothing that its operator has not configured. */
export const NO_UPDATE_CHECK: Readonly<Record<string, string>> = { DENO_NO_UPDATE_CHECK: "1" };

/**
 * The environment of the process. First, how many sockets Deno takes from the system at a time: with its default of
 * 1,024, a busy process leaves single streams unread for seconds. Source: docs/decisions/0147-fair-reads.md.
 */
export const RUN_ENVIRONMENT: Readonly<Record<string, string>> = {
  DENO_TOKIO_MAX_IO_EVENTS_PER_TICK: "32",
  ...NO_UPDATE_CHECK,
};

/** The flags of `deno run` for a bundle. The configuration of the folder in which it is started has no effect. */
export const RUN_FLAGS: readonly string[] = [
  "--quiet",
  "--no-config",
  "--no-code-cache",
  LAZY_OPTION,
  "--no-prompt",
  ...UNSTABLE,
  V8_OPTION,
  ...PERMISSIONS,
];
