import { threadModule } from "../../../platform/lib/process/program_files.ts";
import { startWebThread, type WebThread } from "../../../platform/workers/web_thread.ts";

/** The message that starts the thread. */
export interface LauncherData {
  /** The process that started this one. */
  readonly parent: number;
  /** What an earlier thread found; null for the first one. */
  readonly chain: LauncherChain | null;
}

/** The processes between this one and npm, and the parent of each. */
export type LauncherChain = readonly { readonly pid: number; readonly parent: number }[];

/** What the thread reports, once. */
export type LauncherNews =
  /** npm is not known to have started this process. */
  | { readonly type: "unknown" }
  /** A process between this one and npm, or npm, has ended. */
  | { readonly type: "ended" }
  /** The thread has looked often enough, and another one goes on. */
  | { readonly type: "again"; readonly chain: LauncherChain };

/** Each look leaves some kilobytes in the memory of its thread, which are free when it ends. */
export const LOOKS_PER_THREAD = 600;

/**
 * Watches the processes by which npm started this one, as `npx deno task dev` does: npm starts a shell, which starts
 * `deno task`, which starts the gateway. npm passes SIGTERM to the shell, which ends without passing it on. So without
 * the watch, the gateway would go on. Only on Linux.
 *
 * @param env Reads an environment variable.
 * @param onEnd Called when one of them has ended.
 * @returns A function that ends the watch.
 */
export function watchLauncher(env: (name: string) => string | undefined, onEnd: () => void): () => void {
  if (Deno.build.os !== "linux" || env("npm_command") !== "exec") return () => {};
  let thread: WebThread | null = null;
  const start = (chain: LauncherChain | null) => {
    const onStart = (worker: Worker) => {
      worker.onerror = (event) => event.preventDefault(); // a signal to the group still ends the gateway
      worker.onmessage = ({ data }: MessageEvent<LauncherNews>) => {
        worker.terminate();
        if (data.type === "ended") onEnd();
        if (data.type === "again") start(data.chain);
      };
      const data: LauncherData = { parent: Deno.ppid, chain };
      worker.postMessage(data);
    };
    thread = startWebThread({ entry: threadModule("entry/cli/process/launcher_entry"), onStart });
  };
  start(null);
  return () => thread?.terminate();
}
