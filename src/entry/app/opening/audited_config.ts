import type { AuditedChange, AuditLog } from "../../../observers/audit/audit_log.ts";
import { MAX_VALUE_CHARACTERS } from "../../../observers/audit/changed_fields.ts";
import { CONFIGURATION } from "../../../observers/audit/records.ts";
import { boundedDiff } from "../../../config/diff/bounded_diff.ts";
import type { ConfigDiff } from "../../../config/diff/config_diff.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";

/**
 * What changed the configuration, if no request of the admin API did: a signal, the start of a gateway, or settings
 * that another gateway stored. It is the method of the entry in the audit log.
 */
export type ChangeOrigin = "SIGHUP" | "START" | "FOLLOW";

/** A change of the configuration as it is shown. */
export interface ShownChange {
  /** The absolute path of the configuration file; null without one. */
  readonly file: string | null;
  /** The version of the settings in the store. */
  readonly version: number;
  readonly diff: ConfigDiff;
  /** The public ids of keys that the file no longer declares. */
  readonly revokedKeys: readonly string[];
}

/** Records that a change of the configuration begins. */
export function beginConfigChange(audit: AuditLog, origin: ChangeOrigin): Promise<AuditedChange> {
  return audit.begin({
    actor: { name: CONFIGURATION, address: null },
    requestId: null,
    method: origin,
    path: "config",
    account: null,
    before: null,
  });
}

/** For the file, the version and the names of the fields. */
const ENVELOPE_CHARACTERS = 1_000;

/** A change for the audit log: as the admin API answers it, shortened if it is too large. */
export function auditedChange({ file, version, diff, revokedKeys }: ShownChange): JsonObject {
  const bounded = boundedDiff(diff, MAX_VALUE_CHARACTERS - ENVELOPE_CHARACTERS);
  return { file, version, ...bounded, revoked_keys: bounded === diff ? revokedKeys : revokedKeys.slice(0, 10) };
}

/** An answer of the configuration endpoints for the audit log, shortened if it is too large. */
export function auditedAnswer(body: JsonObject): JsonObject {
  const { file, version, revoked_keys: revokedKeys, ...diff } = body as unknown as ConfigDiff & {
    readonly file: string | null;
    readonly version: number;
    readonly revoked_keys: readonly string[];
  };
  return auditedChange({ file, version, diff, revokedKeys });
}
