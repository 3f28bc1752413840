import * as z from "zod";
import { type Cidr, isCidr, readCidr } from "../net/address.ts";
import { boolean, httpAddress, optional, type ReadContext, seconds, secret, wholeNumber } from "../lib/settings.ts";

/** Where the gateway listens, and its public address. */
export interface ServerConfig {
  /** Name or address to listen on. Default: `127.0.0.1`. */
  readonly host: string;
  /** 0 selects a free port. Default: 8787. */
  readonly port: number;
  /** Networks of proxies in front of the gateway, whose `X-Forwarded-For` is believed. Default: none. */
  readonly trustedProxies: readonly Cidr[];
  /** The start of `polling_url` and `mirror_urls`, without a final slash. Default, as null: the listening address. */
  readonly baseUrl: string | null;
  /**
   * Whether video vendors get an address below `baseUrl` for notifications, if that is https and public. Default: true.
   */
  readonly vendorCallbacks: boolean;
  /** Bearer secret of the admin API, at least 16 characters. Default, as null: the admin API is off. */
  readonly adminKey: string | null;
  /** How long open streams continue after a stop signal, in milliseconds. Default: 30 s. */
  readonly shutdownGraceMs: number;
}

const NETWORK_EXPECTATION = 'a network in CIDR form or an address, such as "10.0.0.0/8" or "192.0.2.1"';
const HOST_EXPECTATION = "a host name or address, without a port";

const schema: z.ZodType<ServerConfig> = z.strictObject({
  host: z.string(HOST_EXPECTATION).regex(/^[A-Za-z0-9.:_-]{1,253}$/, HOST_EXPECTATION).default("127.0.0.1"),
  port: wholeNumber(0, 65535).default(8787),
  trusted_proxies: z.array(
    z.string(NETWORK_EXPECTATION).refine(isCidr, NETWORK_EXPECTATION).transform(readCidr),
    "a list",
  )
    .default([]),
  base_url: optional(httpAddress()),
  vendor_callbacks: boolean().default(true),
  admin_key: optional(secret(16)),
  shutdown_grace: seconds(0, 3600).default(30_000),
}).transform(({ host, port, trusted_proxies, base_url, vendor_callbacks, admin_key, shutdown_grace }) => ({
  host,
  port,
  trustedProxies: trusted_proxies,
  baseUrl: base_url,
  vendorCallbacks: vendor_callbacks,
  adminKey: admin_key,
  shutdownGraceMs: shutdown_grace,
}));

/** The `server` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readServerSection(value: unknown, context?: ReadContext): ServerConfig {
  return schema.parse(value, context);
}
