import { createHash } from "node:crypto";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Clock } from "../../platform/lib/basics/clock.ts";
import { GatewayError, invalidField } from "../../platform/lib/basics/gateway_error.ts";
import { newChecksummedSecret } from "../../platform/lib/basics/checksummed_secret.ts";
import { newSortableId } from "../../platform/lib/basics/ids.ts";
import type { Store } from "../../platform/store/store.ts";
import type { AdminRole } from "./admin_role.ts";
import { ADMIN_KEYS, adminKeyKey, COMMAND_LINE, CONFIGURATION } from "./records.ts";

/** A name and a role, proven by an admin key. */
export interface AdminIdentity {
  readonly name: string;
  readonly role: AdminRole;
}

/** An admin key in the configuration. */
export interface ConfiguredAdminKey extends AdminIdentity {
  /** The secret itself. */
  readonly key: string;
}

/** An admin key that was created by the admin API: a hash, never the secret. */
export interface AdminKeyRecord extends AdminIdentity {
  readonly id: string;
  /** The SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** The first characters of the secret, to recognise the key in a list. */
  readonly prefix: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

interface KnownKey extends AdminIdentity {
  readonly hash: Uint8Array;
}

const MAX_STORED = 100;
const CACHED_MS = 5_000;
const PREFIX = "sk-admin-";
const SHOWN_CHARACTERS = 15;
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/;

/** What {@linkcode isAdminKeyName} expects; continues a message after "expected". */
export const ADMIN_KEY_NAME_EXPECTATION = `a name of 1 to 64 visible ASCII characters other than ` +
  `"${COMMAND_LINE}" and "${CONFIGURATION}"`;

/** Whether a text can name an admin key. Spaces are allowed within, the names of other actors are not. */
export function isAdminKeyName(text: string): boolean {
  return NAME.test(text) && text !== COMMAND_LINE && text !== CONFIGURATION;
}

/**
 * The admin keys of the configuration and of the store. Those of the store are cached for five seconds; a change by
 * this object takes effect at once.
 */
export class AdminKeys {
  readonly #configured: readonly KnownKey[];
  #stored: { readonly keys: readonly KnownKey[]; readonly until: number } | null = null;

  constructor(
    readonly store: Store,
    readonly clock: Clock,
    configured: readonly ConfiguredAdminKey[],
  ) {
    this.#configured = configured.map(({ name, role, key }) => ({ name, role, hash: hashOf(key) }));
  }

  /** Returns the identity that a secret proves; null if it is no admin key. Every key is compared, in constant time. */
  async identify(secret: string): Promise<AdminIdentity | null> {
    const hash = hashOf(secret);
    const configured = find(this.#configured, hash);
    const stored = find(await this.#storedKeys(), hash);
    return configured ?? stored;
  }

  /**
   * Creates a key.
   *
   * @returns The record, and the secret, which is not stored and not shown again.
   * @throws {GatewayError} `invalid_request` naming `name`; `conflict` if the name is in use or there are too many.
   */
  async create({ name, role }: AdminIdentity): Promise<{ record: AdminKeyRecord; secret: string }> {
    if (!isAdminKeyName(name)) throw invalidField("name", `expected ${ADMIN_KEY_NAME_EXPECTATION}`);
    const records = await this.list();
    if (records.length >= MAX_STORED) {
      throw new GatewayError("conflict", `Cannot create the admin key: there are ${MAX_STORED} already`);
    }
    if (this.#configured.some((other) => other.name === name)) throw nameInUse();
    const secret = newChecksummedSecret(PREFIX);
    const now = this.store.now();
    const record: AdminKeyRecord = {
      id: `adminkey_${newSortableId(now)}`,
      name,
      role,
      hash: hashOf(secret).toHex(),
      prefix: secret.slice(0, SHOWN_CHARACTERS),
      createdAt: now,
    };
    const key = adminKeyKey(name);
    const { ok } = await this.store.commit(null, { check: [{ key, version: null }], set: [{ key, value: record }] });
    if (!ok) throw nameInUse();
    this.#stored = null;
    return { record, secret };
  }

  /** Lists the keys of the store by name. */
  async list(): Promise<AdminKeyRecord[]> {
    return (await this.store.scan<AdminKeyRecord>(ADMIN_KEYS, { limit: MAX_STORED + 1 })).map(({ value }) => value);
  }

  /**
   * Removes a key of the store.
   *
   * @throws {GatewayError} `not_found` if there is no such key.
   */
  async revoke(id: string): Promise<AdminKeyRecord> {
    const record = (await this.list()).find((each) => each.id === id);
    if (record === undefined) throw new GatewayError("not_found", "Cannot revoke the admin key: no such key");
    await this.store.commit(null, { delete: [adminKeyKey(record.name)] });
    this.#stored = null;
    return record;
  }

  async #storedKeys(): Promise<readonly KnownKey[]> {
    const now = this.clock.monotonicMs();
    if (this.#stored === null || now >= this.#stored.until) {
      const keys = (await this.list()).map(({ name, role, hash }) => ({ name, role, hash: Uint8Array.fromHex(hash) }));
      this.#stored = { keys, until: now + CACHED_MS };
    }
    return this.#stored.keys;
  }
}

function nameInUse(): GatewayError {
  return new GatewayError("conflict", "Cannot create the admin key: the name is in use", { field: "name" });
}

function find(keys: readonly KnownKey[], hash: Uint8Array): AdminIdentity | null {
  let found: AdminIdentity | null = null;
  for (const { name, role, hash: own } of keys) if (timingSafeEqual(own, hash)) found = { name, role };
  return found;
}

function hashOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
