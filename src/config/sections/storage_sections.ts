import * as z from "zod";
import { BUCKET_EXPECTATION, type BucketAddress, readBucketAddress } from "../../platform/files/s3/bucket_address.ts";
import type { Section } from "../tree/section.ts";
import type { Environment } from "../tree/expansion.ts";
import type { Problems } from "../tree/problems.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { optional, secret, text } from "../../platform/lib/settings/settings.ts";

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

/** The setting `store`: `kv:` and a path, `kv::memory:`, or the address of a PostgreSQL database. */
export const storeSchema = setting(
  z.string(STORE_EXPECTATION)
    .regex(/^(kv:[^\p{Cc}]+$|postgres(ql)?:)/u, STORE_EXPECTATION)
    .superRefine((address, context) => {
      if (!/^postgres(ql)?:/.test(address)) return;
      const message = hasUnencoded(address)
        ? `${DATABASE_EXPECTATION}; ${ENCODING_HINT}`
        : isDatabaseAddress(address)
        ? null
        : DATABASE_EXPECTATION;
      if (message !== null) context.addIssue({ code: "custom", message });
    }),
  {
    default: DEFAULT_STORE,
    variable: "SWITCHYARD_STORE",
    text: "The store: a file, memory, or a [PostgreSQL database](scaling.md)",
    example: "postgres://switchyard:${DB_PASSWORD}@db.internal/switchyard",
  },
);

function isDatabaseAddress(address: string): boolean {
  return /^postgres(ql)?:\/\/[^\s\p{Cc}]+$/u.test(address) && URL.canParse(address) &&
    new URL(address).host !== "" && new URL(address).pathname.length > 1;
}

/** The setting `files_folder`. */
export const filesFolderSchema = setting(text(1, 4096), {
  default: DEFAULT_FILES,
  text: "With a bucket: the folder of uploads and cached contents",
  example: "/var/lib/switchyard/files",
});

/** The setting `files`: a folder, or the address of a bucket. */
export const filesSchema = setting(text(1, 4096).transform(readFilesAddress), {
  default: DEFAULT_FILES,
  variable: "SWITCHYARD_FILES",
  text: "The folder of results and of uploads in progress, or a [bucket](#results-in-a-bucket)",
  example: "s3://results/videos?region=eu-central-1",
});

function readFilesAddress(value: string, context: z.RefinementCtx): string | BucketAddress {
  if (!/^s3:/i.test(value)) return value;
  const address = readBucketAddress(value);
  if (address === null) context.addIssue({ code: "custom", message: BUCKET_EXPECTATION });
  return address ?? value;
}

/** The setting `files_serve`. */
export const filesServeSchema = setting(z.enum(["proxy", "redirect"]), {
  default: "proxy",
  text: "With a bucket: whether the gateway passes files on or redirects to the bucket",
});

/** The section `files_credentials`: the credentials of a bucket; null without them. */
export const filesCredentialsSchema = optional(section({
  access_key_id: setting(secret(1), {
    isSecret: false,
    text: "With a bucket: the id of the access key",
    example: "${FILES_KEY_ID}",
  }),
  secret_access_key: setting(secret(1), {
    text: "With a bucket: the secret of the access key",
    example: "${FILES_SECRET}",
  }),
  session_token: setting(
    z.string().regex(/^[\x21-\x7e]{1,4096}$/, "a token of 1 to 4096 visible ASCII characters"),
    {
      default: null,
      isSecret: true,
      text: "With a bucket: the token of temporary credentials",
      example: "${FILES_TOKEN}",
      otherwise: "none",
    },
  ),
}));

/** The bucket of results and how it is used. */
export interface BucketConfig extends BucketAddress {
  readonly credentials: NonNullable<z.output<typeof filesCredentialsSchema>>;
  /** How a signed address of a file is answered. */
  readonly serve: z.output<typeof filesServeSchema>;
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
  const files = problems.readBy(["files"], tree.files, filesSchema);
  if (files === null || typeof files === "string") {
    const unused = isBucket(tree) ? [] : BUCKET_SETTINGS.filter((name) => tree[name] != null);
    for (const name of unused) problems.addPlain([name], `no value unless "files" is a bucket`, "a value");
    return { files, bucket: null };
  }
  const folder = problems.readBy(["files_folder"], tree.files_folder, filesFolderSchema);
  return { files: folder, bucket: readBucket(files, tree, problems) };
}

function readBucket(address: BucketAddress, tree: Section, problems: Problems): BucketConfig | null {
  const serve = problems.readBy(["files_serve"], tree.files_serve, filesServeSchema);
  const path = ["files_credentials"];
  const credentials = problems.readBy(path, tree.files_credentials, filesCredentialsSchema);
  if (tree.files_credentials == null) {
    problems.addPlain(path, "access_key_id and secret_access_key, or the usual AWS environment variables", "nothing");
  }
  return serve === null || credentials === null ? null : { ...address, serve, credentials };
}

function isBucket({ files }: Section): boolean {
  return typeof files === "string" && /^s3:/i.test(files);
}
