import type { LoadedConfig, PlainLoadedConfig } from "../../../config/config.ts";
import { ConfigError } from "../../../config/tree/config_error.ts";
import { absolutePathOf, type ConfigSource, readConfigFile } from "../../../config/config_file.ts";
import { type StoredConfig, treeOf } from "../../../config/tree/plain_tree.ts";
import { systemClock } from "../../../platform/lib/basics/clock.ts";
import { threadModule } from "../../../platform/lib/process/program_files.ts";
import { threadStarter, type WorkerThread } from "../../../platform/workers/worker_thread.ts";
import { environmentOf } from "../environment.ts";

/** Asks the thread to read the configuration. */
export interface ReadRequest {
  /** The file that the command line names: see `environmentOf`. */
  readonly path: string | undefined;
  /** The file that was found, or `environment`. */
  readonly file: string;
  readonly stored: StoredConfig;
}

/** What the thread answers. */
export type ReadAnswer =
  | { readonly type: "read"; readonly plain: PlainLoadedConfig }
  /** As in {@linkcode ConfigError}. */
  | { readonly type: "invalid"; readonly problems: readonly string[] }
  /** Another error. */
  | { readonly type: "failed"; readonly name: string; readonly message: string; readonly stack: string };

/** A start with settings in the store reads the configuration twice. The thread is kept for the second time. */
const IDLE_MS = 2_000;
/** The largest configuration takes far less. */
const HEAP_MEGABYTES = 2_048;

interface Pending {
  readonly resolve: (loaded: LoadedConfig) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Opens the configuration for a gateway. A thread reads it and ends afterwards: the schemas of the configuration take
 * 9 MiB, which a gateway does not need while it runs. See docs/decisions/0146-idle-memory.md.
 *
 * @param path The file that the command line names.
 * @throws {ConfigError} If a named file does not exist, or if the file cannot be read.
 */
export function openThreadedConfig(path: string | undefined): ConfigSource {
  const { source: file } = readConfigFile({ path, env: environmentOf(path) });
  const thread = new ConfigThread();
  return { path: absolutePathOf(file), load: (stored) => thread.read({ path, file, stored }) };
}

/** The thread, while there is one. It answers requests in their order. */
class ConfigThread {
  readonly #start = threadStarter({
    kind: "configuration",
    entry: threadModule("entry/cli/process/config_entry"),
    heapMegabytes: HEAP_MEGABYTES,
  });
  readonly #pending: Pending[] = [];
  #thread: WorkerThread | null = null;
  #stopIdleTimer = () => {};

  read(request: ReadRequest): Promise<LoadedConfig> {
    this.#stopIdleTimer();
    this.#thread ??= this.#start({
      onMessage: (answer) => this.#onAnswer(answer as ReadAnswer),
      onCrash: (reason) => this.#onCrash(reason),
    });
    this.#thread.setReferenced(true);
    const { promise, resolve, reject } = Promise.withResolvers<LoadedConfig>();
    this.#pending.push({ resolve, reject });
    this.#thread.post(request, []);
    return promise;
  }

  #onAnswer(answer: ReadAnswer): void {
    const pending = this.#pending.shift();
    if (this.#pending.length === 0) {
      this.#thread?.setReferenced(false);
      this.#stopIdleTimer = systemClock.after(IDLE_MS, () => this.#end());
    }
    if (answer.type === "read") pending?.resolve({ ...answer.plain, tree: treeOf(answer.plain.tree) });
    else pending?.reject(answer.type === "invalid" ? new ConfigError([...answer.problems]) : errorOf(answer));
  }

  #onCrash(reason: string): void {
    this.#thread = null;
    for (const { reject } of this.#pending.splice(0)) {
      reject(new Error(`Cannot read the configuration: its thread ended (${reason})`));
    }
  }

  #end(): void {
    this.#thread?.terminate();
    this.#thread = null;
  }
}

/** The error with its class where that is one of Deno's, as commands tell failures apart by it. */
function errorOf({ name, message, stack }: Extract<ReadAnswer, { type: "failed" }>): Error {
  const classes: Readonly<Record<string, unknown>> = Deno.errors;
  const found = Object.hasOwn(classes, name) ? classes[name] : Error;
  const error = new (found as ErrorConstructor)(message);
  return Object.assign(error, { name, stack });
}
