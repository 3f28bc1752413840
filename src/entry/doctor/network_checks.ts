import { readCaFile } from "../../config/ca_file.ts";
import type { Config } from "../../config/config.ts";
import { isLoopback } from "../../platform/net/proxy.ts";
import { directHead } from "./direct_head.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** A difference above this makes signed requests and tokens of some vendors invalid. */
const MAX_SKEW_MS = 60_000;
const SUSPECT_SKEW_MS = 5_000;
const TIMEOUT_MS = 10_000;

/** What a request without a credential to a vendor's host shows. */
export interface ReachedHost {
  readonly finding: Finding;
  /** How far this machine's clock is ahead of the vendor's, in milliseconds; null if the vendor did not say. */
  readonly skewMs: number | null;
}

/**
 * Checks that the host of each provider can be reached, with a certificate that this machine trusts. No credential is
 * sent. Providers of one host share a finding.
 */
export async function checkHosts(
  { providers, egress }: Pick<Config, "providers" | "egress">,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<ReachedHost[]> {
  const namesByOrigin = new Map<string, string[]>();
  for (const [name, { baseUrl }] of Object.entries(providers)) {
    const { origin } = new URL(baseUrl);
    namesByOrigin.set(origin, [...namesByOrigin.get(origin) ?? [], name]);
  }
  const caCerts = egress.caFile === null ? [] : [await readCaFile(egress.caFile)];
  using client = Deno.createHttpClient({ caCerts });
  const options = { client, caCerts, timeoutMs };
  return await Promise.all(
    [...namesByOrigin].map(([origin, names]) => reach(origin, `host of ${names.join(", ")}`, options)),
  );
}

interface ReachOptions {
  readonly client: Deno.HttpClient;
  readonly caCerts: readonly string[];
  readonly timeoutMs: number;
}

async function reach(origin: string, check: string, options: ReachOptions): Promise<ReachedHost> {
  const sentAt = Date.now();
  try {
    const headers = isLoopback(new URL(origin).hostname)
      ? await directHead(origin, options)
      : await headOf(origin, options);
    const date = Date.parse(headers.get("date") ?? "");
    const skewMs = Number.isNaN(date) ? null : (sentAt + Date.now()) / 2 - date;
    return { finding: ok(check, `${origin} answers`), skewMs };
  } catch (error) {
    return { finding: unreachable({ check, origin, error, timeoutMs: options.timeoutMs }), skewMs: null };
  }
}

async function headOf(origin: string, { client, timeoutMs }: ReachOptions): Promise<Headers> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(origin, { method: "HEAD", redirect: "manual", client, signal });
  await response.body?.cancel();
  return response.headers;
}

/** A host that a request did not reach. */
export interface UnreachedHost {
  readonly check: string;
  readonly origin: string;
  /** What `fetch` threw. The platform's messages name neither a key nor a path. */
  readonly error: unknown;
  readonly timeoutMs: number;
}

/** Names the cause, and what to do. */
export function unreachable({ check, origin, error, timeoutMs }: UnreachedHost): Finding {
  const message = error instanceof Error ? `${error.message} ${(error.cause as Error | undefined)?.message ?? ""}` : "";
  if (/certificate|UnknownIssuer|tls/i.test(message)) {
    const advice = "if your own proxy inspects TLS, name its root certificate in egress.ca_file";
    return problem(check, `the certificate of ${origin} is not trusted`, advice);
  }
  if (/dns|lookup|resolve/i.test(message)) {
    return problem(check, `the name in ${origin} cannot be resolved`, "check base_url and the DNS of this machine");
  }
  if (/timed out|timeout/i.test(message)) {
    const advice = "check the firewall, and HTTPS_PROXY if the machine needs a proxy";
    return problem(check, `${origin} did not answer within ${timeoutMs / 1000} s`, advice);
  }
  return problem(check, `${origin} cannot be reached`, "check base_url, the firewall and HTTPS_PROXY");
}

/** Checks this machine's clock against those of the vendors: the smallest difference counts. */
export function checkClock(hosts: readonly Pick<ReachedHost, "skewMs">[]): Finding {
  const skews = hosts.flatMap(({ skewMs }) => skewMs ?? []).sort((one, other) => Math.abs(one) - Math.abs(other));
  const [skew] = skews;
  if (skew === undefined) return ok("clock", "no vendor reported a time to compare with");
  const seconds = Math.round(Math.abs(skew) / 100) / 10;
  const text = `${seconds} s ${skew > 0 ? "ahead of" : "behind"} the nearest vendor's`;
  // The header has whole seconds, so a difference below two says nothing.
  if (Math.abs(skew) < SUSPECT_SKEW_MS) return ok("clock", `within ${SUSPECT_SKEW_MS / 1000} s of the vendors' clocks`);
  const advice = "synchronise the clock, such as with chrony or systemd-timesyncd";
  return Math.abs(skew) < MAX_SKEW_MS ? warning("clock", text, advice) : problem("clock", text, advice);
}
