import { dirname, join } from "node:path";
import { journalFolderOf } from "../../app/journal/charge_journal.ts";
import { requestLogPathOf } from "../../app/opening/request_log.ts";
import type { Config } from "../../../config/config.ts";
import { loadConfig } from "../../../config/load_config.ts";
import { localPathOf, storeAddressOf } from "../../../config/tree/store_address.ts";
import { makePrivateFolder, PRIVATE_FILE_MODE } from "../../../platform/lib/process/private_path.ts";
import { asUnwritableError } from "../../../platform/lib/process/unwritable.ts";
import { readTar, type TarEntry, TarError } from "../../../platform/store/backup/tar.ts";
import { syncFolder } from "../../../platform/store/journal/journal_folder.ts";
import { DATABASE_FILE_SUFFIXES } from "../../../platform/store/kv/database_file.ts";
import { ProcessLock } from "../../../platform/store/kv/process_lock.ts";
import {
  ENTRIES,
  isListedName,
  type ListedFile,
  type Manifest,
  readFileList,
  readManifest,
} from "./backup_contents.ts";
import { BackupError } from "../command_errors.ts";
import { databaseAdvice } from "./database_advice.ts";
import { environmentOf } from "../environment.ts";
import { print, printError } from "../print.ts";
import { fileExists } from "./stopped_store.ts";
import { UsageError } from "../usage_error.ts";
import { parseOptions } from "../command_options.ts";

/**
 * Runs `restore FILE [--replace] [--config FILE]`: puts the contents of a backup where the configuration has the store,
 * the log of requests and the files. Everything is read and compared with its checksums before anything is replaced.
 *
 * @returns The exit code.
 * @throws {BackupError} If the file is no whole backup of this version or an earlier one. Nothing is changed then.
 * @throws {StoreInUseError} If a gateway uses the store.
 */
export async function restoreCommand(args: readonly string[]): Promise<number> {
  const { file, isReplacing, configPath } = argumentsIn(args);
  const config = loadConfig({ path: configPath, env: environmentOf(configPath) });
  const { engine } = storeAddressOf(config.store);
  if (engine === "postgres") {
    printError(databaseAdvice(config));
    return 1;
  }
  const path = await localPathOf(config);
  if (path === null) throw new UsageError('switchyard restore: the setting "store" is in memory, expected a file');
  if (!await fileExists(file)) throw new UsageError(`switchyard restore: there is no file "${file}"`);
  await refuseOtherFile(file);
  try {
    await makePrivateFolder(dirname(path));
    const lock = await ProcessLock.take(path);
    try {
      await restore({ file, config, path, isReplacing });
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (error instanceof TarError) throw new BackupError(unreadable(file, error.message), { cause: error });
    if (error instanceof BackupError) throw new BackupError(unreadable(file, error.message), { cause: error });
    throw asUnwritableError("store", path, error);
  }
  return 0;
}

const unreadable = (file: string, reason: string) => `Cannot restore "${file}": ${reason}. Nothing was changed`;

/** @throws {BackupError} If the file does not begin as a backup. */
async function refuseOtherFile(path: string): Promise<void> {
  const isBackup = await firstEntryOf(path).then((name) => name === ENTRIES.store, () => false);
  if (!isBackup) throw new BackupError(unreadable(path, 'it is no backup; "switchyard backup FILE" writes one'));
}

async function firstEntryOf(path: string): Promise<string | null> {
  using file = await Deno.open(path, { read: true });
  for await (const { name } of readTar(file)) return name;
  return null;
}

interface Restore {
  readonly file: string;
  readonly config: Config;
  /** The path of the store, which this process has locked. */
  readonly path: string;
  /** Whether what exists is moved aside. */
  readonly isReplacing: boolean;
}

/** The places of a gateway's data, by entry. */
interface Targets {
  readonly store: string;
  readonly requests: string;
  readonly bodies: string;
  readonly files: string;
}

async function restore({ file, config, path, isReplacing }: Restore): Promise<void> {
  const requests = await requestLogPathOf(config);
  const targets: Targets = { store: path, requests, bodies: `${requests}.bodies`, files: config.files };
  const existing = await existingPaths(targets, await journalFolderOf(config));
  if (existing.length > 0 && !isReplacing) {
    throw new BackupError(
      `"${existing[0]}" exists. With --replace, the present store is moved aside and kept; choose another place with ` +
        'the setting "store"',
    );
  }
  const staged = new Staging(targets);
  let restored: Unpacked;
  try {
    restored = await unpack(file, staged);
  } catch (error) {
    await staged.remove();
    throw error;
  }
  const suffix = `.replaced-${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`;
  for (const each of existing) await Deno.rename(each, each + suffix);
  await staged.publish();
  await printSummary({ config, path, replaced: existing.map((each) => each + suffix), ...restored });
}

/** What a restored store would be mixed with. The lock stays, since this process holds it. */
async function existingPaths(targets: Targets, journal: string | null): Promise<string[]> {
  const suffixes = DATABASE_FILE_SUFFIXES.filter((suffix) => suffix !== ".lock");
  const paths = [targets.store, targets.requests, targets.bodies]
    .flatMap((path) => suffixes.map((suffix) => path + suffix));
  if (journal !== null && !await isEmptyFolder(journal)) paths.push(journal);
  const found: string[] = [];
  for (const path of paths) if (await fileExists(path)) found.push(path);
  return found;
}

async function isEmptyFolder(path: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(path)) return false;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return true;
}

const UNFINISHED = ".restore";

/** Contents of a backup beside their places, until all of them are read and compared. */
class Staging {
  readonly #targets: Targets;
  /** From the path beside it to the place. The store is the last one: without it no gateway starts on the others. */
  readonly #moves = new Map<string, string>();

  constructor(targets: Targets) {
    this.#targets = targets;
  }

  /** Writes an entry beside its place and syncs it. */
  async write(entry: TarEntry): Promise<Awaited<ReturnType<TarEntry["read"]>>> {
    const place = this.#placeOf(entry.name);
    await makePrivateFolder(dirname(place));
    using output = await Deno.open(place + UNFINISHED, {
      write: true,
      create: true,
      truncate: true,
      mode: PRIVATE_FILE_MODE,
    });
    this.#moves.set(place + UNFINISHED, place);
    const digest = await entry.read(async (piece) => {
      // Ends with the piece: a write takes at least one byte, or throws.
      for (let at = 0; at < piece.length;) at += await output.write(piece.subarray(at));
    });
    await output.sync();
    return digest;
  }

  /** Moves everything to its place. */
  async publish(): Promise<void> {
    const store = this.#targets.store + UNFINISHED;
    const others = [...this.#moves].filter(([from]) => from !== store);
    for (const [from, to] of others) await Deno.rename(from, to);
    for (const folder of new Set(others.map(([, to]) => dirname(to)))) syncFolder(folder);
    await Deno.rename(store, this.#targets.store);
    syncFolder(dirname(this.#targets.store));
  }

  /** Removes what was written. */
  async remove(): Promise<void> {
    for (const from of this.#moves.keys()) await Deno.remove(from).catch(() => {});
  }

  #placeOf(name: string): string {
    if (name === ENTRIES.store) return this.#targets.store;
    if (name === ENTRIES.requests) return this.#targets.requests;
    if (name === ENTRIES.bodies) return this.#targets.bodies;
    const own = name.startsWith(ENTRIES.files) ? name.slice(ENTRIES.files.length) : "";
    if (!isListedName(own)) throw new BackupError(`it has an entry of an unknown name, ${JSON.stringify(name)}`);
    return join(this.#targets.files, own);
  }
}

interface Unpacked {
  readonly manifest: Manifest;
  readonly files: readonly ListedFile[];
}

/** Reads the whole archive and compares it with its manifest. */
async function unpack(path: string, staged: Staging): Promise<Unpacked> {
  using file = await Deno.open(path, { read: true });
  const digests = new Map<string, { bytes: number; sha256: string }>();
  let files: readonly ListedFile[] | null = null;
  let manifest: Manifest | null = null;
  for await (const entry of readTar(file)) {
    if (manifest !== null) throw new BackupError("it goes on after its manifest");
    if (entry.name === ENTRIES.manifest) {
      manifest = readManifest((await textOf(entry)).text);
    } else if (entry.name === ENTRIES.fileList) {
      const { text, digest } = await textOf(entry);
      digests.set(entry.name, digest);
      files = readFileList(text);
    } else {
      digests.set(entry.name, await staged.write(entry));
    }
  }
  if (manifest === null) throw new BackupError("it is cut short, or is no backup: it has no manifest");
  const { entries } = manifest;
  for (const name of [ENTRIES.store, ENTRIES.fileList, ...Object.keys(entries), ...digests.keys()]) {
    const [expected, found] = [entries[name], digests.get(name)];
    if (expected === undefined || found?.bytes !== expected.bytes || found.sha256 !== expected.sha256) {
      throw new BackupError(`the entry ${name} is not what was written`);
    }
  }
  return { manifest, files: files ?? [] };
}

const MAX_TEXT_BYTES = 256 * 1024 * 1024;

async function textOf(entry: TarEntry) {
  if (entry.bytes > MAX_TEXT_BYTES) throw new BackupError(`the entry ${entry.name} is too long`);
  const bytes = new Uint8Array(entry.bytes);
  let length = 0;
  const digest = await entry.read((piece) => {
    bytes.set(piece, length);
    length += piece.length;
    return Promise.resolve();
  });
  return { text: new TextDecoder().decode(bytes), digest };
}

async function printSummary({ config, path, replaced, manifest, files }: Unpacked & {
  readonly config: Config;
  readonly path: string;
  readonly replaced: readonly string[];
}): Promise<void> {
  print(
    `Restored ${path}, as of ${new Date(manifest.createdAt).toISOString()}, written by version ${manifest.version}`,
  );
  for (const each of replaced) print(`  moved aside  ${each}`);
  const missing: string[] = [];
  for (const { name, bytes } of files) {
    if (!isListedName(name)) continue;
    const about = await Deno.lstat(join(config.files, name)).catch(() => null);
    if (about?.size !== bytes) missing.push(name);
  }
  if (missing.length === 0) print(`  files        all ${files.length} are in ${config.files}`);
  else {
    print(
      `  files        ${missing.length} of ${files.length} are not in ${config.files}, such as ${
        missing[0]
      }; copy them ` +
        "there before the gateway starts",
    );
  }
  if (manifest.hasBucket) print("  bucket       the results are in a bucket, which must be that of the backup");
  print('Compare balances with their entries by "switchyard ledger verify", then start the gateway');
}

function argumentsIn(args: readonly string[]) {
  const options = { config: { type: "string" }, replace: { type: "boolean" } } as const;
  const { values, positionals } = parseOptions("restore", args, { options, allowPositionals: true });
  const [file = "", ...more] = positionals;
  if (file === "" || more.length > 0) throw new UsageError("switchyard restore: expected the name of one backup");
  return { file, isReplacing: values.replace === true, configPath: values.config };
}
