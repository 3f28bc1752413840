import ipaddr from "ipaddr.js";
import * as z from "zod";
import { section, setting } from "../lib/settings/setting.ts";
import { text } from "../lib/settings/settings.ts";

const CIDR_EXPECTATION = 'a network in CIDR form, such as "10.0.0.0/8" or "fd00::/8"';

/** The `egress` section: the rules for requests to addresses that callers and vendors name. */
export const egressSchema = section({
  allow: setting(z.array(z.string(CIDR_EXPECTATION).refine(isNetwork, CIDR_EXPECTATION)), {
    default: [],
    text: "Networks that are exempt from the rule against private addresses",
    example: ["10.0.0.0/8"],
  }),
  ca_file: setting(text(1, 4096), {
    default: null,
    text: "A PEM file of further trusted roots",
    example: "/etc/ssl/private-ca.pem",
    otherwise: "none",
  }),
}).prefault({});

/** The `egress` section as it was read. */
export type EgressConfig = z.output<typeof egressSchema>;

/** Only four decimal parts for IPv4 and no zone for IPv6: other notations are rarely intended. */
function isNetwork(value: string): boolean {
  return ipaddr.IPv4.isValidCIDRFourPartDecimal(value) || (ipaddr.IPv6.isValidCIDR(value) && !value.includes("%"));
}
