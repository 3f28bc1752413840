import type { ModelFacts } from "../../../conversation/facts/model_facts.ts";
import type { Clock } from "../../../platform/lib/basics/clock.ts";
import { CAUSE_TEXTS } from "../call/connection_cause.ts";
import { vendorBaseUrl } from "../configured_vendors.ts";
import { type FailureKind, UpstreamFailure } from "../call/failure.ts";
import type { ProviderKind } from "../kinds.ts";
import type { ListedModel } from "../contract/model_listing.ts";
import type { Provider } from "../contract/provider.ts";

/** The result of a test of one provider with one credential. */
export interface ProviderCheck {
  /** Null if the vendor accepts the credential. */
  readonly fault: ProviderFault | null;
  /** Milliseconds until the vendor's response was read; null without a response. */
  readonly latencyMs: number | null;
  /** The ids of the models that the vendor lists; null if its list was not read. */
  readonly models: readonly string[] | null;
  /** What the list states about models, by the vendor's names. Absent: nothing. */
  readonly facts?: ReadonlyMap<string, Partial<ModelFacts>>;
}

/** What is wrong with a provider. */
export interface ProviderFault {
  /** `untestable`: the kind has no request without cost that needs a credential. */
  readonly kind: FailureKind | "untestable";
  /** What was found, in one sentence without secrets and without a final point. */
  readonly text: string;
  /** What to change. */
  readonly advice: string;
}

/** A provider's settings, for messages. */
export interface CheckedAddress {
  readonly kind: ProviderKind;
  readonly baseUrl: string;
}

const MAX_CHECK_MS = 30_000;

/**
 * Tests a provider by its vendor's cheapest request that needs a credential, and lists the models if the vendor does.
 * Never rejects with an `UpstreamFailure`.
 */
export async function checkProvider(
  provider: Provider,
  address: CheckedAddress,
  clock: Clock,
): Promise<ProviderCheck> {
  const request = provider.probe ?? provider.check;
  if (request === undefined) return { fault: untestable(address), latencyMs: null, models: null };
  const late = new AbortController();
  const stop = clock.after(MAX_CHECK_MS, () => late.abort());
  const startedAt = clock.monotonicMs();
  const elapsedMs = () => Math.round(clock.monotonicMs() - startedAt);
  try {
    await request(late.signal);
    const latencyMs = elapsedMs();
    const listed = await listedModels(provider, late.signal);
    const facts = listed?.flatMap(({ id, facts }) => facts === undefined ? [] : [[id, facts] as const]) ?? [];
    const models = listed?.map(({ id }) => id) ?? null;
    return { fault: null, latencyMs, models, ...(facts.length > 0 && { facts: new Map(facts) }) };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    const latencyMs = error.facts.status === null ? null : elapsedMs();
    return { fault: faultOf(error, address, late.signal.aborted), latencyMs, models: null };
  } finally {
    stop();
  }
}

/** The credential was accepted, so a list that cannot be read is no failure. */
async function listedModels({ listModels }: Provider, signal: AbortSignal): Promise<readonly ListedModel[] | null> {
  try {
    return listModels === undefined ? null : await listModels(signal);
  } catch (error) {
    if (error instanceof UpstreamFailure) return null;
    throw error;
  }
}

function untestable({ kind }: CheckedAddress): ProviderFault {
  return {
    kind: "untestable",
    text: `The kind "${kind}" has no request without cost that needs a credential`,
    advice: "send a request to one of its models",
  };
}

const BILLING = /insufficient[_ ]quota|billing|credit balance|insufficient (?:balance|credits?|funds)|payment|arrears/i;
const REGION = /\b(?:region|country|territory|location)\b/i;

/** What is wrong and what to change, from the vendor's response or the lack of one. */
function faultOf(failure: UpstreamFailure, address: CheckedAddress, isLate: boolean): ProviderFault {
  const [text, advice] = problemOf(failure, address, isLate);
  return { kind: isLate ? "timeout" : failure.kind, text, advice };
}

type Problem = readonly [text: string, advice: string];

function problemOf(failure: UpstreamFailure, address: CheckedAddress, isLate: boolean): Problem {
  const { kind, message, facts: { status, vendorCode = "" } } = failure;
  const said = status === null ? "" : ` (status ${status}: ${message.slice(0, MAX_VENDOR_CHARACTERS)})`;
  const text = `${vendorCode} ${message}`;
  if (isLate || kind === "timeout") return timeoutProblem(failure, address);
  if (kind === "unreachable") return connectionProblem(failure, address);
  if (status !== null && status >= 300 && status < 400) {
    return [`The vendor redirects to another address, which is not followed${said}`, expectedAddress(address)];
  }
  if (status === 402 || (status !== 401 && BILLING.test(text))) {
    return [`The account at the vendor has no balance or quota left${said}`, "check its billing"];
  }
  if (kind !== "auth" && REGION.test(text)) {
    return [`The vendor does not serve this region${said}`, "use a credential or an address of another region"];
  }
  switch (kind) {
    case "auth":
      return [
        `The vendor rejects the key${said}`,
        "check api_key and headers, and that the key belongs to this vendor",
      ];
    case "forbidden":
      return [
        `The vendor forbids the request${said}`,
        "give the key the permission, or enable it for its project or region",
      ];
    case "rate_limited":
      return [`The vendor's rate limit is exceeded${said}`, "the key works; try again later, or raise the quota"];
    case "unavailable":
      return [`The vendor fails at the moment${said}`, "try again later"];
    case "broken":
      return [`The response is not that of a vendor of kind "${address.kind}"${said}`, expectedAddress(address)];
    default:
      return status === 404 || status === 405
        ? [`The address has no such vendor API${said}`, expectedAddress(address)]
        : [`The vendor refuses the request${said}`, expectedAddress(address)];
  }
}

const MAX_VENDOR_CHARACTERS = 200;

function expectedAddress({ kind, baseUrl }: CheckedAddress): string {
  const usual = vendorBaseUrl(kind);
  return `base_url is "${baseUrl}"; for kind "${kind}" it looks like "${usual}"`;
}

function timeoutProblem({ facts: { status } }: UpstreamFailure, { baseUrl }: CheckedAddress): Problem {
  const what = status === null ? "does not respond in time" : "does not complete its response in time";
  return [`${originOf(baseUrl)} ${what}`, "check base_url, proxies and firewalls, and timeouts"];
}

const TLS_ADVICE = "check http or https in base_url, and egress.ca_file for a private certificate";

function connectionProblem({ facts }: UpstreamFailure, { baseUrl }: CheckedAddress): Problem {
  const origin = originOf(baseUrl);
  const cause = facts.connectionCause;
  switch (cause) {
    case "unresolved":
      return [
        `The name of ${origin} cannot be resolved by DNS`,
        "check the spelling of base_url, and the DNS of this machine",
      ];
    case "refused":
      return [`${origin} refuses the connection`, "check the port of base_url, and that it runs"];
    case "certificate_expired":
    case "certificate_name":
    case "certificate_untrusted":
    case "certificate":
      return [`The TLS connection to ${origin} fails: ${CAUSE_TEXTS[cause]}`, TLS_ADVICE];
    case "tls":
      return [`The TLS connection to ${origin} fails`, TLS_ADVICE];
    case "timeout":
      return [`${origin} cannot be connected to in time`, "check base_url, proxies and firewalls"];
    case "proxy_credentials":
    case "proxy":
      return [`${origin} cannot be reached: ${CAUSE_TEXTS[cause]}`, "check the proxy's address and credentials"];
    default:
      return [`${origin} cannot be reached, or closes the connection`, "check base_url, proxies and firewalls"];
  }
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}
