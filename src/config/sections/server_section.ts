import * as z from "zod";
import {
  ADMIN_KEY_NAME_EXPECTATION,
  type ConfiguredAdminKey,
  isAdminKeyName,
} from "../../observers/audit/admin_keys.ts";
import { ADMIN_ROLES, type AdminRole } from "../../observers/audit/admin_role.ts";
import { DEFAULT_ADMIN_KEY } from "./admin_keys.ts";
import { isCidr } from "../../platform/net/address.ts";
import { section, setting } from "../../platform/lib/settings/setting.ts";
import { boolean, httpAddress, seconds, secret, wholeNumber } from "../../platform/lib/settings/settings.ts";

/** An address to listen on. Port 0 selects a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const NETWORK_EXPECTATION = 'a network in CIDR form or an address, such as "10.0.0.0/8" or "192.0.2.1"';
const HOST_EXPECTATION = "a host name or address, without a port";
const LISTEN_EXPECTATION = 'a host and a port, such as "127.0.0.1:8788"';
const ROLE_EXPECTATION = `one of ${ADMIN_ROLES.join(", ")}`;

const adminKey = section({
  name: setting(
    z.string(ADMIN_KEY_NAME_EXPECTATION).refine(isAdminKeyName, ADMIN_KEY_NAME_EXPECTATION)
      .refine(
        (name) => name !== DEFAULT_ADMIN_KEY,
        `a name other than "${DEFAULT_ADMIN_KEY}", which is server.admin_key`,
      ),
    { text: "The name that the audit log shows", example: "dashboards" },
  ),
  key: setting(secret(16), { text: "The key", example: "${DASHBOARD_KEY}" }),
  role: setting(z.enum(ADMIN_ROLES as [AdminRole, ...AdminRole[]], ROLE_EXPECTATION), {
    text: "What it may do: [who may do what](operating/run.md#who-may-do-what)",
  }),
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

/** The `server` section: where the gateway listens, and its public address. */
export const serverSchema = section({
  host: setting(z.string(HOST_EXPECTATION).regex(/^[A-Za-z0-9.:_-]{1,253}$/, HOST_EXPECTATION), {
    default: "127.0.0.1",
    variable: "HOST",
    isLocal: true,
    text: "The name or address to listen on",
    example: "0.0.0.0",
  }),
  port: setting(wholeNumber(0, 65535), {
    default: 8787,
    variable: "PORT",
    isLocal: true,
    text: "The port to listen on; 0 chooses a free one",
    example: 8080,
    unit: "port",
  }),
  trusted_proxies: setting(
    z.array(z.string(NETWORK_EXPECTATION).refine(isCidr, NETWORK_EXPECTATION), "a list"),
    {
      default: [],
      text: "Networks of proxies whose `X-Forwarded-For` is believed",
      example: ["10.0.0.0/8", "192.0.2.10"],
    },
  ),
  base_url: setting(httpAddress(), {
    default: null,
    variable: "SWITCHYARD_BASE_URL",
    isLocal: true,
    text: "The public address, with which addresses of tasks and files begin",
    example: "https://gateway.example.com",
    otherwise: "the listening address",
  }),
  docs_url: setting(httpAddress(), {
    default: null,
    text: "The start of `doc_url` in errors",
    example: "https://docs.example.com",
    otherwise: "the gateway's own `/docs`",
  }),
  peer_url: setting(httpAddress(), {
    default: null,
    variable: "SWITCHYARD_PEER_URL",
    isLocal: true,
    text: "The address at which other gateways on the same store reach this one",
    example: "http://10.0.0.7:8787",
    otherwise: "the listening address, unless it stands for all addresses of the host",
  }),
  vendor_callbacks: setting(boolean(), {
    default: true,
    text: "Whether video vendors get an address for notifications, if `base_url` is public",
  }),
  admin_key: setting(secret(16), {
    default: null,
    variable: "SWITCHYARD_ADMIN_KEY",
    isLive: true,
    text: "The key of the admin API, with the role `owner`",
    example: "${SWITCHYARD_ADMIN_KEY}",
    otherwise: "no admin API, unless `admin_keys` has a key",
  }),
  admin_keys: setting(z.array(adminKey, "a list").refine(hasDistinctNames, "a list of keys with different names"), {
    default: [],
    isLive: true,
    text: "Further keys of the admin API",
  }),
  admin_listen: setting(z.string(LISTEN_EXPECTATION).transform(readListenAddress), {
    default: null,
    isLocal: true,
    text: "A host and a port where the admin API and the console listen by themselves",
    example: "127.0.0.1:8788",
    otherwise: "the address of the gateway",
  }),
  isolates: setting(
    z.union([
      z.string().regex(/^auto$/, ISOLATES_EXPECTATION),
      wholeNumber(1, MAX_ISOLATES),
    ], ISOLATES_EXPECTATION).transform((given) => typeof given === "number" ? given : automaticIsolates()),
    {
      default: "auto",
      text:
        "Threads that accept connections; `auto` is one for each core, at most 8, and 1 on other systems than Linux",
      example: 4,
      unit: "threads",
    },
  ),
  shutdown_grace: setting(seconds(0, 3600), {
    default: 30,
    text: "How long open streams go on after `SIGTERM`",
    example: 60,
  }),
  stall_limit: setting(seconds(0, 86_400), {
    default: 60,
    text: "How long the event loop of a thread may stand still before the gateway ends itself; 0 for any time",
    example: 120,
  }),
}).prefault({});

/** The `server` section as it was read. */
export type ServerConfig = z.output<typeof serverSchema>;
