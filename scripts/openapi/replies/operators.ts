import * as z from "zod";
import { ADMIN_ROLES, type AdminRole } from "../../../src/observers/audit/admin_role.ts";
import type {
  AuditEntry as ConsoleAuditEntry,
  ConfigDifference,
  ConfigInForce as ConsoleConfig,
  ConfigVersion as ConsoleVersion,
} from "../../../src/console/client/shapes.ts";
import type { KeyRotation } from "../../../src/services/videos/results/signing_keys.ts";
import { about, seconds, written } from "../schema.ts";

const word = () => z.string().nullable();

/** Ids of signing keys. */
export const RotatedSigningKeys = written<KeyRotation>()(z.object({
  signs: z.string(),
  verifies: z.array(z.string()),
  dropped: z.array(z.string()),
})).meta({ id: "RotatedSigningKeys" });

/** An entry of the audit log. */
export const AuditEntry = written<ConsoleAuditEntry>()(z.object({
  id: z.string(),
  created_at: seconds(),
  actor: z.string(),
  address: word(),
  request_id: word(),
  method: z.string(),
  path: z.string(),
  account: word(),
  state: z.enum(["begun", "done"]),
  before: z.looseObject({}).nullable(),
  after: z.looseObject({}).nullable(),
})).meta({ id: "AuditEntry" });

const adminKey = {
  id: z.string(),
  name: z.string(),
  role: z.enum(ADMIN_ROLES as [AdminRole, ...AdminRole[]]),
  prefix: z.string(),
  created_at: seconds(),
};

/** All admin keys. */
export const AdminKeys = z.object({ data: z.array(z.object(adminKey).meta({ id: "AdminKey" })) }).meta({
  id: "AdminKeys",
});

/** A new admin key. */
export const NewAdminKey = z.object({ ...adminKey, secret: about(z.string(), "Shown only once.") })
  .meta({ id: "IssuedAdminKey" });

/** A revoked admin key. */
export const RevokedAdminKey = z.object({ ...adminKey, revoked: z.literal(true) }).meta({ id: "RevokedAdminKey" });

const names = () => z.record(z.string(), z.array(z.string()));
const difference = {
  added: about(names(), "Names by section."),
  removed: names(),
  changed: about(
    z.record(
      z.string(),
      z.record(
        z.string(),
        z.record(
          z.string(),
          z.union([
            z.literal("changed"),
            z.object({ before: z.unknown(), after: z.unknown() }),
          ]),
        ),
      ),
    ),
    "By section, name and field. A changed secret is `changed`.",
  ),
  restart: about(z.array(z.string()), "Settings that take effect at the next start."),
};

/** What a change of the configuration did. */
export const ConfigChange = written<ConfigDifference>()(z.object({
  file: word(),
  version: z.int(),
  ...difference,
  revoked_keys: z.array(z.string()),
})).meta({ id: "ConfigChange" });

/** The configuration in force. */
export const ConfigInForce = written<ConsoleConfig>()(z.object({
  file: word(),
  version: z.int(),
  is_read_only: about(z.boolean(), "Whether it stays until the gateway stops."),
  shadowed: z.array(z.string()),
  settings: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        value: z.unknown(),
        owner: z.string(),
        path: z.string().exactOptional(),
      }),
    ),
  ),
})).meta({ id: "ConfigInForce" });

/** A page of versions of the settings in the store. */
export const ConfigVersions = z.object({
  data: z.array(
    written<ConsoleVersion>()(z.object({ version: z.int(), created_at: seconds(), by: z.string(), ...difference })),
  ),
  next: about(z.int().nullable(), "The `after` of the next page."),
}).meta({ id: "ConfigVersions" });
