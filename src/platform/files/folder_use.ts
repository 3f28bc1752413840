import { PRIVATE_FILE_MODE } from "../lib/process/private_path.ts";

/** The use of a folder by this process, until it is closed or the process ends. */
export interface FolderUse extends Disposable {
  /** Whether no other process uses the folder. */
  readonly isAlone: boolean;
  /** Lets other processes use the folder too. Must be called before the first file is written. */
  share(): Promise<void>;
}

/**
 * Begins to use a folder that several gateways may share. The first one has it alone until it shares it, so that it can
 * remove what ended processes left. Another one waits for that. The locks are those of a file beside the folder, which
 * the system releases at the end of a process.
 *
 * @param path The folder.
 * @throws The system's error if the file cannot be written or locked.
 */
export async function useFolder(path: string): Promise<FolderUse> {
  const file = await Deno.open(`${path}.lock`, { create: true, write: true, mode: PRIVATE_FILE_MODE });
  const isAlone = await file.tryLock(true);
  if (!isAlone) await file.lock(false);
  return {
    isAlone,
    share: async () => void (isAlone && await file.lock(false)),
    [Symbol.dispose]: () => file.close(),
  };
}
