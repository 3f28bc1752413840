import * as z from "zod";
import { BUCKET_EXPECTATION, type BucketAddress, readBucketAddress } from "../files/s3/bucket_address.ts";
import type { Section } from "./section.ts";
import type { Environment } from "./expansion.ts";
import type { Problems } from "./problems.ts";
import { optional, type ReadContext, secret, text } from "../lib/settings.ts";

/** The store, if the setting is missing. */
const DEFAULT_STORE = "kv:./data/switchyard.db";

/** The folder of files, if the setting is missing. */
const DEFAULT_FILES = "./data/files";

const STORE_EXPECTATION = `"kv:" and a path, such as "${DEFAULT_STORE}", "kv::memory:", or postgres://…`;

/** What a `postgres:` address must look like. Its value is not printed, since it can have a password. */
const DATABASE_EXPECTATION = "postgres://USER:PASSWORD@HOST/DATABASE, such as with ?sslmode=verify-full";

/** For characters that end a part of an address. */
const ENCODING_HINT = 'in a name or password, write "#" as %23, "?" as %3F, "/" as %2F, "@" as %40 and "%" as %25';

/** Whether an address has a fragment, which none has, or a percent sign that is no escape. */
function hasUnencoded(address: string): boolean {
  return address.includes("#") || /%(?![0-9a-f]{2})/i.test(address);
}

/** The schema of the setting `store`. */
export const storeSchema: z.ZodType<string> = z.string(STORE_EXPECTATION)
  .regex(/^(kv:[^\p{Cc}]+$|postgres(ql)?:)/u, STORE_EXPECTATION)
  .superRefine((address, context) => {
    if (!/^postgres(ql)?:/.test(address)) return;
    const message = hasUnencoded(address)
      ? `${DATABASE_EXPECTATION}; ${ENCODING_HINT}`
      : isDatabaseAddress(address)
      ? null
      : DATABASE_EXPECTATION;
    if (message !== null) context.addIssue({ code: "custom", message });
  })
  .default(DEFAULT_STORE);

function isDatabaseAddress(address: string): boolean {
  return /^postgres(ql)?:\/\/[^\s\p{Cc}]+$/u.test(address) && URL.canParse(address) &&
    new URL(address).host !== "" && new URL(address).pathname.length > 1;
}

/** The schema of the setting `files_folder`. */
export const filesFolderSchema: z.ZodType<string> = text(1, 4096).default(DEFAULT_FILES);
/** The schema of the setting `files`. */
export const filesSchema: z.ZodType<string | BucketAddress> = text(1, 4096).default(DEFAULT_FILES).transform(
  (value, context) => {
    if (!/^s3:/i.test(value)) return value;
    const address = readBucketAddress(value);
    if (address === null) context.addIssue({ code: "custom", message: BUCKET_EXPECTATION });
    return address ?? value;
  },
);
/** The schema of the setting `files_serve`. */
export const filesServeSchema: z.ZodType<FilesServe> = z.enum(["proxy", "redirect"]).default("proxy");
/** The schema of the setting `files_credentials`. */
export const filesCredentialsSchema: z.ZodType<BucketCredentials | null> = optional(
  z.strictObject({
    access_key_id: secret(1),
    secret_access_key: secret(1),
    session_token: optional(z.string().regex(/^[\x21-\x7e]{1,4096}$/, "a token of 1 to 4096 visible ASCII characters")),
  }).transform((read) => ({
    accessKeyId: read.access_key_id,
    secretAccessKey: read.secret_access_key,
    sessionToken: read.session_token,
  })),
);

/** How a signed address of a file in a bucket is answered. */
export type FilesServe = "proxy" | "redirect";

/** The credentials of a bucket. */
export interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials; else null. */
  readonly sessionToken: string | null;
}

/** The bucket of results and how it is used. */
export interface BucketConfig extends BucketAddress {
  readonly credentials: BucketCredentials;
  readonly serve: FilesServe;
}

/**
 * The setting `store`: `kv:` and a path, `kv::memory:`, or the address of a PostgreSQL database.
 *
 * @throws {z.ZodError}
 */
export function readStoreSection(value: unknown, context?: ReadContext): string {
  return storeSchema.parse(value, context);
}

/** The setting `files`: a folder, or the address of a bucket. Throws {@linkcode z.ZodError}. */
function readFilesSection(value: unknown, context?: ReadContext): string | BucketAddress {
  return filesSchema.parse(value, context);
}

/** The setting `files_folder`. Throws {@linkcode z.ZodError}. */
function readFilesFolder(value: unknown, context?: ReadContext): string {
  return filesFolderSchema.parse(value, context);
}

/** The setting `files_serve`. Throws {@linkcode z.ZodError}. */
function readFilesServe(value: unknown, context?: ReadContext): FilesServe {
  return filesServeSchema.parse(value, context);
}

/** The setting `files_credentials`. Throws {@linkcode z.ZodError}. */
function readFilesCredentials(value: unknown, context?: ReadContext): BucketCredentials | null {
  return filesCredentialsSchema.parse(value, context);
}

/** The settings that only a bucket has. */
const BUCKET_SETTINGS = ["files_folder", "files_serve", "files_credentials"];

/** The usual variables of a bucket's credentials, by field. */
const BUCKET_VARIABLES = {
  access_key_id: "AWS_ACCESS_KEY_ID",
  secret_access_key: "AWS_SECRET_ACCESS_KEY",
  session_token: "AWS_SESSION_TOKEN",
};

/** Takes the credentials of a bucket from the usual variables, unless `files_credentials` is set. */
export function applyBucketVariables(tree: Section, env: Environment, problems: Problems): void {
  if (!isBucket(tree) || tree.files_credentials != null) return;
  const found = Object.entries(BUCKET_VARIABLES).filter(([, name]) => env(name));
  if (found.length === 0) return;
  tree.files_credentials = Object.fromEntries(found.map(([field, name]) => [field, env(name)]));
  for (const [field, name] of Object.entries(BUCKET_VARIABLES)) {
    problems.setOrigin(["files_credentials", field], `environment: ${name}`);
    problems.keepPrivate(["files_credentials", field]);
  }
}

/** Reads `files` and the settings of a bucket. */
export function readFiles(
  tree: Section,
  problems: Problems,
): { readonly files: string | null; readonly bucket: BucketConfig | null } {
  const files = problems.read(["files"], tree.files ?? undefined, readFilesSection);
  if (files === null || typeof files === "string") {
    const unused = isBucket(tree) ? [] : BUCKET_SETTINGS.filter((name) => tree[name] != null);
    for (const name of unused) problems.addPlain([name], `no value unless "files" is a bucket`, "a value");
    return { files, bucket: null };
  }
  const folder = problems.read(["files_folder"], tree.files_folder ?? undefined, readFilesFolder);
  return { files: folder, bucket: readBucket(files, tree, problems) };
}

function readBucket(address: BucketAddress, tree: Section, problems: Problems): BucketConfig | null {
  const serve = problems.read(["files_serve"], tree.files_serve ?? undefined, readFilesServe);
  const path = ["files_credentials"];
  const credentials = problems.read(path, tree.files_credentials ?? undefined, readFilesCredentials);
  if (tree.files_credentials == null) {
    problems.addPlain(path, "access_key_id and secret_access_key, or the usual AWS environment variables", "nothing");
  }
  return serve === null || credentials === null ? null : { ...address, serve, credentials };
}

function isBucket({ files }: Section): boolean {
  return typeof files === "string" && /^s3:/i.test(files);
}
