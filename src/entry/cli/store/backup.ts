import { dirname, join, resolve } from "node:path";
import { requestLogPathOf } from "../../app/opening/request_log.ts";
import type { Config } from "../../../config/config.ts";
import { loadConfig } from "../../../config/load_config.ts";
import { shownStore, storeAddressOf } from "../../../config/tree/store_address.ts";
import { isFileName } from "../../../platform/files/files.ts";
import { PRIVATE_FILE_MODE } from "../../../platform/lib/process/private_path.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";
import { snapshotDatabase } from "../../../platform/store/backup/database_snapshot.ts";
import { type Digest, TarWriter } from "../../../platform/store/backup/tar.ts";
import { syncFolder } from "../../../platform/store/journal/journal_folder.ts";
import { SCHEMA } from "../../../platform/store/kv/keys.ts";
import { BACKUP_FORMAT, CACHES, ENTRIES, type ListedFile, type Manifest } from "./backup_contents.ts";
import { databaseAdvice } from "./database_advice.ts";
import { withDevStore } from "./dev_store.ts";
import { environmentOf } from "../environment.ts";
import { isConfigNamed } from "../find/find_gateway.ts";
import { print, printError } from "../print.ts";
import { existingStorePath, fileExists } from "./stopped_store.ts";
import { snapshotStore } from "./store_snapshot.ts";
import { UsageError } from "../usage_error.ts";
import { VERSION } from "../version.ts";
import { parseOptions } from "../command_options.ts";

/**
 * Runs `backup FILE [--files] [--config FILE]`: writes the store, its journal of charges and the log of requests, each
 * as of one instant, to one file. A gateway may use them meanwhile. With `--files` the files themselves are in it too.
 *
 * @returns The exit code.
 * @throws {StoreMissingError} If there is no store.
 */
export async function backupCommand(args: readonly string[]): Promise<number> {
  const { file, hasFiles, configPath } = argumentsIn(args);
  const own = loadConfig({ path: configPath, env: environmentOf(configPath) });
  const config = await withDevStore(own, isConfigNamed(configPath));
  if (config !== own) print(`The store is that of "switchyard dev", which runs in this folder`);
  if (storeAddressOf(config.store).engine === "postgres") {
    printError(databaseAdvice(config));
    return 1;
  }
  const path = await existingStorePath(config);
  if (await fileExists(file)) throw new UsageError(`switchyard backup: the file "${file}" exists already`);
  // Beside the backup: the folder of the store need not have room for a copy.
  const folder = `${resolve(file)}.parts`;
  try {
    await Deno.mkdir(folder, { mode: 0o700 }).catch(async (error) => {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      await Deno.remove(folder, { recursive: true }); // of a backup that was killed
      await Deno.mkdir(folder, { mode: 0o700 });
    });
    try {
      await writeBackup({ config, path, file: resolve(file), folder, hasFiles });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  } catch (error) {
    throw asUnwritableError(null, file, error);
  }
  return 0;
}

interface Backup {
  readonly config: Config;
  /** The real path of the store. */
  readonly path: string;
  readonly file: string;
  /** For copies of databases; removed in the end. */
  readonly folder: string;
  readonly hasFiles: boolean;
}

async function writeBackup({ config, path, file, folder, hasFiles }: Backup): Promise<void> {
  const unfinished = join(folder, "backup.tar");
  const { createdAt, isIncomplete } = await snapshotStore(path, join(folder, ENTRIES.store));
  using output = await Deno.open(unfinished, { write: true, createNew: true, mode: PRIVATE_FILE_MODE });
  const tar = new TarWriter(output, createdAt);
  const entries: Record<string, Digest> = {};
  const add = async (name: string, from: string) => {
    using source = await Deno.open(from, { read: true });
    entries[name] = await tar.addFile(name, source);
  };
  await add(ENTRIES.store, join(folder, ENTRIES.store));
  const logs = await snapshotRequestLog(config, folder);
  for (const name of logs) await add(name, join(folder, name));
  const listed = await filesOf(config, path);
  const present: ListedFile[] = [];
  for (const each of listed) {
    try {
      if (hasFiles) await add(ENTRIES.files + each.name, join(config.files, each.name));
      present.push(each);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // it was removed after the list was read
    }
  }
  entries[ENTRIES.fileList] = await tar.addText(ENTRIES.fileList, JSON.stringify(present));
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    version: VERSION,
    createdAt,
    schema: SCHEMA,
    hasFiles,
    hasBucket: config.bucket !== null,
    entries,
  };
  await tar.addText(ENTRIES.manifest, JSON.stringify(manifest));
  await tar.end();
  await Deno.rename(unfinished, file);
  syncFolder(dirname(file));
  printSummary({ config, path, file, manifest, hasLog: logs.length > 0, present, isIncomplete });
}

/** Copies the files of the log of requests. Returns the names of the entries that there are. */
async function snapshotRequestLog(config: Config, folder: string): Promise<string[]> {
  const path = await requestLogPathOf(config);
  const found: string[] = [];
  for (const [name, from] of [[ENTRIES.requests, path], [ENTRIES.bodies, `${path}.bodies`]] as const) {
    if (!await fileExists(from)) continue;
    await snapshotDatabase(from, join(folder, name));
    found.push(name);
  }
  return found;
}

/** The files below `files` that a gateway needs: results and inputs of videos, and media of cached contents. */
async function filesOf(config: Config, storePath: string): Promise<ListedFile[]> {
  const listed: ListedFile[] = [];
  for (const prefix of ["", `${CACHES}/`]) {
    const folder = join(config.files, prefix);
    try {
      for await (const { name, isFile } of Deno.readDir(folder)) {
        if (!isFile || !isFileName(name) || resolve(folder, name) === storePath) continue;
        const about = await Deno.lstat(join(folder, name)).catch(() => null);
        if (about !== null) listed.push({ name: prefix + name, bytes: about.size });
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return listed.sort((one, other) => one.name < other.name ? -1 : 1);
}

interface Summary {
  readonly config: Config;
  readonly path: string;
  readonly file: string;
  readonly manifest: Manifest;
  readonly hasLog: boolean;
  readonly present: readonly ListedFile[];
  readonly isIncomplete: boolean;
}

function printSummary({ config, path, file, manifest, hasLog, present, isIncomplete }: Summary): void {
  const bytes = present.reduce((sum, each) => sum + each.bytes, 0);
  print(`Wrote ${file}, readable only by its owner; it has secrets`);
  print(`  store       ${path}, as of ${new Date(manifest.createdAt).toISOString()}, with its journal of charges`);
  print(`  requests    ${hasLog ? "the log of requests" : "none: there is no log of requests in a file"}`);
  const files = `${present.length} files with ${bytes} bytes in ${config.files}`;
  print(`  files       ${files}${manifest.hasFiles ? "" : ", as a list; --files adds the files themselves"}`);
  if (config.bucket !== null) print("  bucket      not included: results are in a bucket, which has its own backups");
  print("Not included: the configuration file and the environment variables that it names");
  if (!isIncomplete) return;
  printError(
    `switchyard: the store ${shownStore(config.store)} is itself a copy without all of its files; ` +
      '"switchyard ledger verify" says what is missing',
  );
}

function argumentsIn(args: readonly string[]) {
  const { values, positionals } = parseOptions("backup", args, {
    options: { config: { type: "string" }, files: { type: "boolean" } },
    allowPositionals: true,
  });
  const [file = "", ...more] = positionals;
  if (file === "" || more.length > 0) {
    throw new UsageError("switchyard backup: expected the name of one file to write, such as switchyard-backup.tar");
  }
  return { file, hasFiles: values.files === true, configPath: values.config };
}
