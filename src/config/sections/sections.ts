import * as z from "zod";
import { configuredAccountsSchema } from "../../money/billing/declared/accounts_section.ts";
import { billingSchema } from "../../money/billing/billing_section.ts";
import { aliasSchema } from "../../vendors/catalog/alias.ts";
import { modelSchema } from "../../vendors/catalog/model.ts";
import { type CamelCase, camelCase } from "../../platform/lib/settings/camel_case.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean } from "../../platform/lib/settings/settings.ts";
import { notificationsSchema } from "../../services/notifications/notifications_section.ts";
import { pricesSchema } from "../../vendors/prices/prices_section.ts";
import { tracingSchema } from "../../observers/tracing/tracing_section.ts";
import { providerSchema } from "../../vendors/upstreams/settings/provider_config.ts";
import { webhooksSchema } from "../../services/webhooks/webhooks_section.ts";
import { egressSchema } from "../../platform/net/egress_section.ts";
import { limitsSchema } from "./limits_section.ts";
import type { Problems } from "../tree/problems.ts";
import { requestLogSchema } from "../../observers/request_log/request_log_section.ts";
import { retentionSchema } from "./retention_section.ts";
import type { Section } from "../tree/section.ts";
import { serverSchema } from "./server_section.ts";
import {
  filesCredentialsSchema,
  filesFolderSchema,
  filesSchema,
  filesServeSchema,
  storeSchema,
} from "./storage_sections.ts";

/** A section of the configuration file. */
export interface SectionEntry {
  /** Of a section with names: of one of its entries. */
  readonly schema: z.ZodType;
  /** Whether a change takes effect without a restart, where a setting says nothing else. */
  readonly isLive: boolean;
  /** What stands for the names of its entries in paths: `providers.NAME`. Default: it has settings, not entries. */
  readonly names?: ".NAME" | "[]" | "";
}

/** All sections in the order of the reference page. Every other list of sections or settings follows from it. */
export const SECTIONS = {
  server: { schema: serverSchema, isLive: false },
  store: { schema: storeSchema, isLive: false },
  files: { schema: filesSchema, isLive: false },
  files_folder: { schema: filesFolderSchema, isLive: false },
  files_serve: { schema: filesServeSchema, isLive: false },
  files_credentials: { schema: filesCredentialsSchema, isLive: false },
  accounts: { schema: configuredAccountsSchema, isLive: true, names: "" },
  providers: { schema: providerSchema, isLive: true, names: ".NAME" },
  models: { schema: modelSchema, isLive: true, names: "[]" },
  prices: { schema: pricesSchema, isLive: false },
  aliases: { schema: aliasSchema, isLive: true, names: ".NAME" },
  limits: { schema: limitsSchema, isLive: true },
  retention: { schema: retentionSchema, isLive: false },
  billing: { schema: billingSchema, isLive: false },
  webhooks: { schema: webhooksSchema, isLive: false },
  notifications: { schema: notificationsSchema, isLive: true },
  egress: { schema: egressSchema, isLive: true },
  logs: {
    schema: section({
      level: setting(z.enum(["debug", "info", "warn", "error"]), {
        default: "info",
        variable: "SWITCHYARD_LOG_LEVEL",
        text: "The lowest level that is written",
      }),
    }).prefault({}),
    isLive: true,
  },
  request_log: { schema: requestLogSchema, isLive: false },
  tracing: { schema: tracingSchema, isLive: false },
  catalog: {
    schema: setting(z.literal("built_in", "built_in, or nothing"), {
      default: null,
      text: "`built_in` adds the built-in models of the providers to `models`, where a model with the same id wins",
      example: "built_in",
      otherwise: "built-in models without a section `models` only",
    }),
    isLive: true,
  },
  console: {
    schema: setting(boolean(), {
      default: null,
      text: "Whether the web console is at `/console`",
      otherwise: "true if there is an admin key",
    }),
    isLive: false,
  },
} satisfies Record<string, SectionEntry>;

/** The same as a list. */
export const SECTION_LIST: readonly [name: string, entry: SectionEntry][] = Object.entries(SECTIONS);

/** The sections whose parts are read one by one, or together. */
const READ_APART = [
  "files",
  "files_folder",
  "files_serve",
  "files_credentials",
  "providers",
  "models",
  "aliases",
] as const;

type ReadByItself = Exclude<keyof typeof SECTIONS, (typeof READ_APART)[number]>;

/** What is read of each section by itself. */
export type SectionValues = {
  readonly [Name in ReadByItself as CamelCase<Name>]: z.output<(typeof SECTIONS)[Name]["schema"]>;
};

/** Reads the sections that are read by themselves; null for one with problems. */
export function readSections(
  tree: Section,
  problems: Problems,
): { readonly [Name in keyof SectionValues]: SectionValues[Name] | null } {
  const names = SECTION_LIST.filter(([name]) => !READ_APART.some((apart) => apart === name));
  return Object.fromEntries(
    names.map(([name, { schema }]) => [camelCase(name), problems.readBy([name], tree[name], schema)]),
  ) as SectionValues;
}
