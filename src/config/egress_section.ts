import ipaddr from "ipaddr.js";
import * as z from "zod";
import { optional, type ReadContext, text } from "../lib/settings.ts";

/** What requests to addresses that others name may reach. */
export interface EgressConfig {
  /** Networks exempt from the rule against private addresses, in CIDR form. Default: none. */
  readonly allow: readonly string[];
  /** A PEM file of roots to trust beside the usual ones, for all outbound TLS. Default: null. */
  readonly caFile: string | null;
}

const CIDR_EXPECTATION = 'a network in CIDR form, such as "10.0.0.0/8" or "fd00::/8"';

const schema: z.ZodType<EgressConfig> = z.strictObject({
  allow: z.array(z.string(CIDR_EXPECTATION).refine(isNetwork, CIDR_EXPECTATION)).default([]),
  ca_file: optional(text(1, 4096)),
}).transform(({ allow, ca_file }) => ({ allow, caFile: ca_file }));

/** The `egress` section. Throws {@linkcode z.ZodError} with the path of every bad field. */
export function readEgressSection(value: unknown, context?: ReadContext): EgressConfig {
  return schema.parse(value, context);
}

/** Four decimal parts for version 4, no zone for version 6: what is read otherwise is rarely what was meant. */
function isNetwork(value: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(value) || (ipaddr.IPv6.isValidCIDR(value) && !value.includes("%"));
}
