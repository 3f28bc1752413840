import * as z from "zod";
import { ADMIN_KEY_NAME_EXPECTATION, type ConfiguredAdminKey, isAdminKeyName } from "../audit/admin_keys.ts";
import { ADMIN_ROLES, type AdminRole } from "../audit/admin_role.ts";
import { DEFAULT_ADMIN_KEY } from "./admin_keys.ts";
import { isCidr } from "../net/address.ts";
import { boolean, httpAddress, optional, type ReadContext, seconds, secret, wholeNumber } from "../lib/settings.ts";

/** An address to listen on. Port 0 selects a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where the gateway listens, and its public address. */
export interface ServerConfig {
  /** Name or address to listen on. Default: `127.0.0.1`. */
  readonly host: string;
  /** 0 selects a free port. Default: 8787. */
  readonly port: number;
  /** Networks of proxies in front of the gateway, whose `X-Forwarded-For` is believed. Default: none. */
  readonly trustedProxies: readonly string[];
  /** The start of `polling_url` and `mirror_urls`, without a final slash. Default, as null: the listening address. */
  readonly baseUrl: string | null;
  /** The start of `doc_url` in errors, without a final slash. Default, as null: the gateway's own `/docs`. */
  readonly docsUrl: string | null;
  /**
   * Where other gateways on the same store reach this one, without a final slash. Default, as null: the listening
   * address, unless it stands for all addresses of the host.
   */
  readonly peerUrl: string | null;
  /**
   * Whether video vendors get an address below `baseUrl` for notifications, if that is https and public. Default: true.
   */
  readonly vendorCallbacks: boolean;
  /** Bearer secret of the admin API, at least 16 characters. Default, as null: the admin API is off. */
  readonly adminKey: string | null;
  /** Further admin keys with their names and roles. Default: none. */
  readonly adminKeys: readonly ConfiguredAdminKey[];
  /** Where the admin API listens by itself. Default, as null: at the address of the gateway. */
  readonly adminListen: ListenAddress | null;
  /** Threads that accept connections; 1 for the main thread. Default: the cores, at most 8, and 1 outside of Linux. */
  readonly isolates: number;
  /** How long open streams continue after a stop signal, in milliseconds. Default: 30 s. */
  readonly shutdownGraceMs: number;
  /**
   * How long the event loop of a thread may stand still before the process ends, in milliseconds; 0 for any time.
   * Default: 60 s.
   */
  readonly stallLimitMs: number;
}

const NETWORK_EXPECTATION = 'a network in CIDR form or an address, such as "10.0.0.0/8" or "192.0.2.1"';
const HOST_EXPECTATION = "a host name or address, without a port";
const LISTEN_EXPECTATION = 'a host and a port, such as "127.0.0.1:8788"';
const ROLE_EXPECTATION = `one of ${ADMIN_ROLES.join(", ")}`;

const adminKeySchema: z.ZodType<ConfiguredAdminKey> = z.strictObject({
  name: z.string(ADMIN_KEY_NAME_EXPECTATION).refine(isAdminKeyName, ADMIN_KEY_NAME_EXPECTATION)
    .refine(
      (name) => name !== DEFAULT_ADMIN_KEY,
      `a name other than "${DEFAULT_ADMIN_KEY}", which is server.admin_key`,
    ),
  key: secret(16),
  role: z.enum(ADMIN_ROLES as [AdminRole, ...AdminRole[]], ROLE_EXPECTATION),
});

function hasDistinctNames(keys: readonly ConfiguredAdminKey[]): boolean {
  return new Set(keys.map(({ name }) => name)).size === keys.length;
}

function readListenAddress(text: string, context: z.RefinementCtx): ListenAddress {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,253}):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    context.addIssue(LISTEN_EXPECTATION);
    return z.NEVER;
  }
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

const MAX_ISOLATES = 64;
const MAX_AUTOMATIC_ISOLATES = 8;
const ISOLATES_EXPECTATION = `"auto" or a number from 1 to ${MAX_ISOLATES}`;

/** Only Linux distributes the connections to one address among several threads. */
function automaticIsolates(): number {
  if (Deno.build.os !== "linux") return 1;
  return Math.min(navigator.hardwareConcurrency, MAX_AUTOMATIC_ISOLATES);
}

/** The schema of the `server` section. */
export const serverSchema: z.ZodType<ServerConfig> = z.strictObject({
  host: z.string(HOST_EXPECTATION).regex(/^[A-Za-z0-9.:_-]{1,253}$/, HOST_EXPECTATION).default("127.0.0.1"),
  port: wholeNumber(0, 65535).default(8787),
  trusted_proxies: z.array(
    z.string(NETWORK_EXPECTATION).refine(isCidr, NETWORK_EXPECTATION),
    "a list",
  )
    .default([]),
  base_url: optional(httpAddress()),
  docs_url: optional(httpAddress()),
  peer_url: optional(httpAddress()),
  vendor_callbacks: boolean().default(true),
  admin_key: optional(secret(16)),
  admin_keys: z.array(adminKeySchema, "a list").default([]).refine(
    hasDistinctNames,
    "a list of keys with different names",
  ),
  admin_listen: optional(z.string(LISTEN_EXPECTATION).transform(readListenAddress)),
  isolates: z.union([
    z.string().regex(/^auto$/, ISOLATES_EXPECTATION),
    wholeNumber(1, MAX_ISOLATES),
  ], ISOLATES_EXPECTATION).default("auto"),
  shutdown_grace: seconds(0, 3600).default(30_000),
  stall_limit: seconds(0, 86_400).default(60_000),
}).transform(({
  host,
  port,
  trusted_proxies,
  base_url,
  docs_url,
  peer_url,
  vendor_callbacks,
  admin_key,
  admin_keys,
  admin_listen,
  isolates,
  shutdown_grace,
  stall_limit,
}) => ({
  host,
  port,
  trustedProxies: trusted_proxies,
  baseUrl: base_url,
  docsUrl: docs_url,
  peerUrl: peer_url,
  vendorCallbacks: vendor_callbacks,
  adminKey: admin_key,
  adminKeys: admin_keys,
  adminListen: admin_listen,
  isolates: typeof isolates === "number" ? isolates : automaticIsolates(),
  shutdownGraceMs: shutdown_grace,
  stallLimitMs: stall_limit,
}));

/** The `server` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readServerSection(value: unknown, context?: ReadContext): ServerConfig {
  return serverSchema.parse(value, context);
}
