import ipaddr from "ipaddr.js";
import * as z from "zod";
import { optional, type ReadContext, text } from "../lib/settings.ts";

/** The rules for requests to addresses that callers and vendors name. */
export interface EgressConfig {
  /** Networks exempt from the rule against private addresses, in CIDR form. Default: none. */
  readonly allow: readonly string[];
  /** A PEM file with additional trusted roots, for all outbound TLS. Default: null. */
  readonly caFile: string | null;
}

const CIDR_EXPECTATION = 'a network in CIDR form, such as "10.0.0.0/8" or "fd00::/8"';

/** The schema of the `egress` section. */
export const egressSchema: z.ZodType<EgressConfig> = z.strictObject({
  allow: z.array(z.string(CIDR_EXPECTATION).refine(isNetwork, CIDR_EXPECTATION)).default([]),
  ca_file: optional(text(1, 4096)),
}).transform(({ allow, ca_file }) => ({ allow, caFile: ca_file }));

/** The `egress` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readEgressSection(value: unknown, context?: ReadContext): EgressConfig {
  return egressSchema.parse(value, context);
}

/** Only four decimal parts for IPv4 and no zone for IPv6: other notations are rarely intended. */
function isNetwork(value: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(value) || (ipaddr.IPv6.isValidCIDR(value) && !value.includes("%"));
}
