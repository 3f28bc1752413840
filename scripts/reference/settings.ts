import * as z from "zod";
import { configuredAccountsSchema } from "../../src/billing/accounts_section.ts";
import { aliasSchema } from "../../src/catalog/alias.ts";
import { modelSchema } from "../../src/catalog/model.ts";
import { modelPatternSchema } from "../../src/catalog/model_pattern.ts";
import { egressSchema } from "../../src/config/egress_section.ts";
import { limitsSchema } from "../../src/config/limits_section.ts";
import { notificationsSchema } from "../../src/notifications/notifications_section.ts";
import { requestLogSchema } from "../../src/config/request_log_section.ts";
import { retentionSchema } from "../../src/config/retention_section.ts";
import { serverSchema } from "../../src/config/server_section.ts";
import {
  billingSchema,
  catalogSchema,
  consoleSchema,
  logsSchema,
  tracingSchema,
  webhooksSchema,
} from "../../src/config/small_sections.ts";
import {
  filesCredentialsSchema,
  filesFolderSchema,
  filesSchema,
  filesServeSchema,
  storeSchema,
} from "../../src/config/storage_sections.ts";
import { pricesSchema } from "../../src/config/prices_section.ts";
import { providerSchema } from "../../src/upstreams/provider_config.ts";

/** A setting that has a value of its own, not fields. */
export interface Setting {
  /** `models[].serves[].weight`; NAME stands for a key that the operator chooses. */
  readonly path: string;
  readonly schema: z.ZodType;
}

/** Each section of the configuration file with its schema. A schema of entries is that of one of them. */
export const SECTIONS: readonly (readonly [path: string, schema: z.ZodType])[] = [
  ["server", serverSchema],
  ["store", storeSchema],
  ["files", filesSchema],
  ["files_folder", filesFolderSchema],
  ["files_serve", filesServeSchema],
  ["files_credentials", filesCredentialsSchema],
  ["accounts", configuredAccountsSchema],
  ["providers.NAME", providerSchema],
  ["models[]", modelSchema],
  ["prices", pricesSchema],
  ["aliases.NAME", aliasSchema],
  ["limits", limitsSchema],
  ["retention", retentionSchema],
  ["billing", billingSchema],
  ["webhooks", webhooksSchema],
  ["notifications", notificationsSchema],
  ["egress", egressSchema],
  ["logs", logsSchema],
  ["request_log", requestLogSchema],
  ["tracing", tracingSchema],
  ["catalog", catalogSchema],
  ["console", consoleSchema],
];

/** The fields that a pattern of models has besides those of a model. */
export const PATTERN_FIELDS: readonly string[] = ["refresh"];

/** All settings in the order of the schemas. */
export function allSettings(): Setting[] {
  const settings = SECTIONS.flatMap(([path, schema]) => settingsIn(path, schema));
  const known = new Set(settings.map(({ path }) => path));
  const patterns = settingsIn("models[]", modelPatternSchema).filter(({ path }) =>
    PATTERN_FIELDS.some((field) => path === `models[].${field}`) && !known.has(path)
  );
  const after = settings.findLastIndex(({ path }) => path.startsWith("models[]")) + 1;
  return [...settings.slice(0, after), ...patterns, ...settings.slice(after)];
}

/** Lists whose items have the fields of another section, which are described there. */
const REPEATED: ReadonlySet<string> = new Set(["models[].pricing.overrides"]);

function settingsIn(path: string, schema: z.ZodType): Setting[] {
  if (REPEATED.has(path)) return [{ path, schema }];
  const inner = withoutWrappers(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, field]) => settingsIn(`${path}.${name}`, field as z.ZodType));
  }
  if (inner instanceof z.ZodArray) {
    const items = settingsIn(`${path}[]`, inner.element as z.ZodType);
    return isLeaf(items, `${path}[]`) ? [{ path, schema }] : items;
  }
  if (inner instanceof z.ZodUnion) {
    const branches = (inner.options as z.ZodType[]).map((option) => settingsIn(path, option));
    const sections = branches.find((branch) => !isLeaf(branch, path));
    return sections ?? [{ path, schema }];
  }
  return [{ path, schema }];
}

function isLeaf(settings: readonly Setting[], path: string): boolean {
  return settings.length === 1 && settings[0]?.path === path;
}

/** The schema of what an operator writes, below defaults, optional values and transformations. */
export function withoutWrappers(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  ) return withoutWrappers(schema.unwrap() as z.ZodType);
  if (!(schema instanceof z.ZodPipe)) return schema;
  // A preprocessed value is a pipe that begins with a function.
  return withoutWrappers((schema.in instanceof z.ZodTransform ? schema.out : schema.in) as z.ZodType);
}
