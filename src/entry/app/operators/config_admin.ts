import type { LoadedConfig } from "../../../config/config.ts";
import { ConfigError } from "../../../config/tree/config_error.ts";
import { STORED_SECTIONS } from "../../../config/config_tree.ts";
import { entryOf, PROVIDER_STATES_SECTION, type StoredConfig } from "../../../config/tree/plain_tree.ts";
import { isSection, type Section } from "../../../config/tree/section.ts";
import { isSecretPath } from "../../../config/tree/setting_path.ts";
import type { StoredVersion } from "../../../config/diff/stored_config.ts";
import { secondsOf } from "../../../platform/lib/basics/clock.ts";
import { GatewayError, invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import type { ConfigAdmin, ConfigAnswer, ConfigEntry } from "../../../protocols/admin/config.ts";
import type { AppliedChange, ConfigChanges, StoredChange } from "./config_changes.ts";
import { shownConfig } from "./shown_config.ts";

/** Creates the operations behind the configuration endpoints of the admin API. */
export function createConfigAdmin(changes: ConfigChanges): ConfigAdmin {
  const change = (wanted: StoredChange, options: { readonly by: string; readonly isDryRun?: boolean }) =>
    answered(changes, changes.change(wanted, options));
  return {
    show: () =>
      shownConfig({ tree: changes.inForce.tree, path: changes.path, version: changes.version, isReadOnly: false }),
    reload: (options) => answered(changes, changes.reload(options)),
    replaceAll: (body, options) =>
      change((content, inForce) => withStatesOf(content, storedContentOf(body, inForce)), options),
    put: (entry, value, options) =>
      change((content, inForce) => withEntry(content, inForce, entry, plainValue(entry, value)), options),
    patch: (entry, fields, options) =>
      change(
        (content, inForce) => withEntry(content, inForce, entry, patchedValue(content, inForce, entry, fields)),
        options,
      ),
    remove: (entry, options) => change((content, inForce) => withoutEntry(content, inForce, entry), options),
    async versions(page) {
      const versions = await changes.versions(page);
      const last = versions.at(-1);
      const next = versions.length === page.limit && last !== undefined && last.version > 1 ? last.version : null;
      return { data: versions.map(writeVersion), next };
    },
    async restore(version, options) {
      const wanted = await changes.find(version);
      if (wanted === null) throw new GatewayError("not_found", `Cannot find version ${version} of the configuration`);
      return await change((content, inForce) => {
        for (const [section, entries] of Object.entries(wanted.content)) {
          if (section === PROVIDER_STATES_SECTION) continue;
          for (const name of Object.keys(entries)) refuseOwned(inForce, { section, name });
        }
        return withStatesOf(content, wanted.content);
      }, options);
    },
  };
}

/**
 * Other settings with the states of providers as they are now: a provider that was drained must not come back because
 * somebody restores settings.
 */
function withStatesOf(now: StoredConfig, wanted: StoredConfig): StoredConfig {
  const { [PROVIDER_STATES_SECTION]: _states, ...others } = wanted;
  const states = now[PROVIDER_STATES_SECTION];
  return states === undefined ? others : { ...others, [PROVIDER_STATES_SECTION]: states };
}

async function answered(changes: ConfigChanges, applied: Promise<AppliedChange>): Promise<ConfigAnswer> {
  try {
    const { diff, version, revokedKeys } = await applied;
    return { ok: true, body: { file: changes.path, version, ...diff, revoked_keys: revokedKeys } };
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, problems: error.problems };
    throw error;
  }
}

function writeVersion({ version, at, by, diff }: StoredVersion): JsonObject {
  return { version, created_at: secondsOf(at), by, ...diff };
}

/**
 * Refuses the change of a setting that the file or the environment declares.
 *
 * @throws {GatewayError} `conflict`, with the file and the path.
 */
function refuseOwned({ tree }: LoadedConfig, { section, name }: ConfigEntry): void {
  const owner = tree.ownerOf(section, name);
  if (owner === "file") {
    const message = `Cannot change "${section}.${name}", which the configuration file declares ` +
      `(${tree.source}: ${tree.pathOf(section, name)}): change it there and reload the configuration`;
    throw new GatewayError("conflict", message, { field: `${section}.${name}` });
  }
  if (owner === "environment") {
    const message = `"${section}.${name}" is set by an environment variable: change it there and restart the gateway`;
    throw new GatewayError("conflict", message, { field: `${section}.${name}` });
  }
}

function withEntry(content: StoredConfig, inForce: LoadedConfig, entry: ConfigEntry, value: unknown): StoredConfig {
  refuseSection(entry.section);
  refuseOwned(inForce, entry);
  refuseUnusable(value, entry.name);
  return { ...content, [entry.section]: { ...content[entry.section], [entry.name]: value } };
}

function withoutEntry(content: StoredConfig, inForce: LoadedConfig, { section, name }: ConfigEntry): StoredConfig {
  refuseSection(section);
  const entries = content[section] ?? {};
  if (!Object.hasOwn(entries, name)) {
    refuseOwned(inForce, { section, name });
    throw new GatewayError("not_found", `Cannot find "${section}.${name}" in the store`);
  }
  const { [name]: _removed, ...others } = entries;
  return { ...content, [section]: others };
}

/** @throws {GatewayError} `invalid_request` for a section whose entries cannot live in the store. */
function refuseSection(section: string): void {
  if (STORED_SECTIONS.some((each) => each === section)) return;
  throw invalidField("section", `expected one of ${STORED_SECTIONS.join(", ")}`);
}

/** Sections whose entries are single values. */
const VALUE_SECTIONS: ReadonlySet<string> = new Set(["limits", "egress", "logs"]);

/** A single value is sent as `{"value": …}`. */
function plainValue({ section }: ConfigEntry, body: JsonObject): unknown {
  const isWrapped = Object.hasOwn(body, "value");
  if (VALUE_SECTIONS.has(section) && !isWrapped) throw invalidField("value", "expected the value of the setting");
  return VALUE_SECTIONS.has(section) || (section === "aliases" && isWrapped) ? body.value : body;
}

/** The entry in force with the changed fields (RFC 7396). */
function patchedValue(content: StoredConfig, inForce: LoadedConfig, entry: ConfigEntry, fields: JsonObject): unknown {
  const { section, name } = entry;
  if (VALUE_SECTIONS.has(section)) return plainValue(entry, fields);
  const known = Object.hasOwn(content[section] ?? {}, name)
    ? content[section]?.[name]
    : entryOf(inForce.tree.sections, section, name);
  if (!isSection(known)) {
    throw new GatewayError("not_found", `Cannot find fields of "${section}.${name}" to change`);
  }
  const merged = mergePatch(known, fields);
  if (section === "providers") refuseKeptCredential(known, merged, fields);
  return merged;
}

/** Fields of a provider that decide where its credentials are sent. */
const ADDRESS_FIELDS = ["base_url", "kind"];
/** Fields of `entra_id` that decide where its secret is sent. */
const TOKEN_ADDRESS_FIELDS = ["tenant", "token_url"];

/**
 * A stored credential must not reach another address: whoever changes the address gives the credential again. The
 * merged entry counts, since a patch that names one header keeps the others.
 */
function refuseKeptCredential(known: Section, merged: unknown, fields: JsonObject): void {
  if (!isSection(merged)) return;
  const moves = ADDRESS_FIELDS.some((field) => merged[field] !== known[field]);
  if (moves) {
    for (const field of Object.keys(known).filter(isCredential)) refuseKept({ known, merged, sent: fields }, [field]);
  }
  const [stored, changed] = [known.entra_id, merged.entra_id];
  if (!isSection(stored) || !isSection(changed)) return;
  if (moves || TOKEN_ADDRESS_FIELDS.some((field) => changed[field] !== stored[field])) {
    refuseKept({ known, merged, sent: fields }, ["entra_id", "client_secret"]);
  }
}

/** Whether a field of a provider holds a credential, with all that is in it. */
function isCredential(field: string): boolean {
  return field === "credentials" || isSecretPath([field]);
}

/** An entry before and after a patch, and the patch. */
interface Patched {
  readonly known: unknown;
  readonly merged: unknown;
  readonly sent: unknown;
}

/** Refuses a value that the merged entry has from the stored one, at a path or below it. */
function refuseKept(patched: Patched, path: readonly string[]): void {
  const [known, merged, sent] = [patched.known, patched.merged, patched.sent].map((entry) => valueAt(entry, path));
  if (known === undefined || merged === undefined) return;
  if (isSection(known) && isSection(merged)) {
    for (const name of Object.keys(known)) refuseKept(patched, [...path, name]);
    return;
  }
  if (sent !== undefined || merged !== known) return;
  throw invalidField(path.join("."), "expected the credential again, as the address that it is for changes");
}

function valueAt(entry: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (within, name) => isSection(within) && Object.hasOwn(within, name) ? within[name] : undefined,
    entry,
  );
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isSection(patch)) return patch;
  const merged: Section = isSection(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}

/** The settings of a whole body, as in a configuration file. */
function storedContentOf(body: JsonObject, inForce: LoadedConfig): StoredConfig {
  const content: Record<string, Record<string, unknown>> = {};
  for (const [section, within] of Object.entries(body)) {
    if (!STORED_SECTIONS.some((each) => each === section)) {
      throw invalidField(section, `expected one of the sections ${STORED_SECTIONS.join(", ")}`);
    }
    const entries = entriesIn(section, within);
    for (const [name, value] of entries) {
      refuseOwned(inForce, { section, name });
      refuseUnusable(value, `${section}.${name}`);
    }
    content[section] = Object.fromEntries(entries);
  }
  return content;
}

function entriesIn(section: string, within: unknown): [string, unknown][] {
  if (section !== "models") {
    if (!isSection(within)) throw invalidField(section, "expected a section");
    return Object.entries(within);
  }
  if (!Array.isArray(within)) throw invalidField(section, "expected a list");
  return within.map((each, index): [string, unknown] => {
    if (!isSection(each) || typeof each.id !== "string") throw invalidField(`models[${index}].id`, "expected a text");
    const { id, ...fields } = each;
    return [id, fields];
  });
}

/** Refuses expressions, which only a file has, and the text that stands for a secret in answers. */
function refuseUnusable(value: unknown, field: string): void {
  if (typeof value === "string") {
    if (value.includes("${")) throw invalidField(field, "expected a value without ${…}: only a file has expressions");
    if (value === "(set)") throw invalidField(field, 'expected the secret itself, not "(set)"');
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) refuseUnusable(item, `${field}.${key}`);
  }
}
