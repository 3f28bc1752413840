import * as z from "zod";
import { NewAdminKey } from "../../../src/protocols/admin/audit.ts";
import { inPath, inQuery, type Operation } from "../operation.ts";
import * as replies from "../replies/operators.ts";
import { pageOf } from "../replies/own.ts";
import { about } from "../schema.ts";
import { PAGE } from "./admin.ts";
import { TIME_PAGE } from "./operations.ts";

const face = "admin" as const;
const text = (name: string, description: string) => inQuery(name, description, z.string());

const OPERATORS: readonly Operation[] = [
  {
    id: "rotateSigningKeys",
    tag: "Operators",
    summary: "Replace the key that signs addresses of files",
    face,
    replies: { 200: { description: "Ids of keys", json: replies.RotatedSigningKeys } },
    errors: [403],
  },
  {
    id: "listAudit",
    tag: "Operators",
    summary: "List what operators changed",
    face,
    parameters: [
      ...PAGE,
      ...TIME_PAGE.slice(-2),
      text("actor", "Only by this admin key."),
      text("account", "Only of this account."),
    ],
    replies: { 200: { description: "A page, the newest first", json: pageOf(replies.AuditEntry) } },
    errors: [400],
  },
  {
    id: "listAdminKeys",
    tag: "Operators",
    summary: "List the admin keys of the store",
    description: "Needs the role `owner`.",
    face,
    replies: { 200: { description: "All of them", json: replies.AdminKeys } },
    errors: [403],
  },
  {
    id: "createAdminKey",
    tag: "Operators",
    summary: "Create an admin key",
    description: "Needs the role `owner`.",
    face,
    body: { json: NewAdminKey, examples: { "For reading": { name: "dashboards", role: "read" } } },
    replies: { 201: { description: "The key with its secret", json: replies.NewAdminKey } },
    errors: [400, 403, 409],
  },
  {
    id: "revokeAdminKey",
    tag: "Operators",
    summary: "Revoke an admin key",
    description: "Needs the role `owner`.",
    face,
    parameters: [inPath("id", "The id of the key.", z.string())],
    replies: { 200: { description: "The revoked key", json: replies.RevokedAdminKey } },
    errors: [403, 404],
  },
];

const SECTION = inPath(
  "section",
  "A section of the configuration.",
  z.enum(["providers", "models", "aliases", "limits", "egress", "logs"]),
);
const NAME = inPath("name", "The name of the entry; of a model its id.", z.string());
const DRY = inQuery("dry_run", "`true` changes nothing and answers with the difference.", z.literal("true"));
const config = { tag: "Configuration", face, errors: [400, 403, 409] } as const;
const change = { 200: { description: "What changed", json: replies.ConfigChange } };
const Entry = about(z.looseObject({}), "An entry with its fields; a single value is `{value}`.");

const CONFIGURATION: readonly Operation[] = [
  {
    ...config,
    id: "readConfig",
    summary: "Read the configuration in force, without secrets",
    replies: { 200: { description: "All settings", json: replies.ConfigInForce } },
    errors: [],
  },
  {
    ...config,
    id: "replaceConfig",
    summary: "Replace all settings in the store",
    description: "Needs the role `owner`, as every change of the configuration.",
    parameters: [DRY],
    body: {
      json: z.object({
        providers: z.record(z.string(), Entry).optional(),
        models: z.array(z.looseObject({ id: z.string() })).optional(),
        aliases: z.record(z.string(), z.unknown()).optional(),
        limits: z.record(z.string(), z.unknown()).optional(),
        egress: z.record(z.string(), z.unknown()).optional(),
        logs: z.record(z.string(), z.unknown()).optional(),
      }).meta({ id: "StoredConfig", description: "Sections as in a configuration file." }),
    },
    replies: change,
  },
  {
    ...config,
    id: "reloadConfig",
    summary: "Read the configuration file again",
    parameters: [DRY],
    replies: change,
  },
  {
    ...config,
    id: "listConfigVersions",
    summary: "List the versions of the settings in the store",
    parameters: PAGE,
    replies: { 200: { description: "A page, the newest first", json: replies.ConfigVersions } },
    errors: [400],
  },
  {
    ...config,
    id: "restoreConfigVersion",
    summary: "Put an earlier version in force again",
    parameters: [inPath("version", "The number of the version.", z.int().min(1)), DRY],
    replies: change,
    errors: [...config.errors, 404],
  },
  {
    ...config,
    id: "setConfigEntry",
    summary: "Set an entry in the store",
    parameters: [SECTION, NAME, DRY],
    body: { json: Entry },
    replies: change,
  },
  {
    ...config,
    id: "changeConfigEntry",
    summary: "Change fields of an entry (RFC 7396)",
    parameters: [SECTION, NAME, DRY],
    body: { json: Entry },
    replies: change,
    errors: [...config.errors, 404],
  },
  {
    ...config,
    id: "deleteConfigEntry",
    summary: "Remove an entry from the store",
    parameters: [SECTION, NAME, DRY],
    replies: change,
    errors: [...config.errors, 404],
  },
];

/** The endpoints of admin keys, the audit log and the configuration. */
export const OPERATOR_OPERATIONS: readonly Operation[] = [...OPERATORS, ...CONFIGURATION];
