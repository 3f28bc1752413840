import { idOf, type Provider } from "../upstreams/provider.ts";
import { type FailureKind, UpstreamFailure } from "../upstreams/failure.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** The result for one provider. */
export interface CheckedProvider {
  readonly finding: Finding;
  /** The models in the vendor's list; null if it has none or could not be read. */
  readonly listed: ReadonlySet<string> | null;
}

const TIMEOUT_MS = 30_000;

/** What an operator can do about each kind of failure. */
const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  unreachable: "check base_url, the firewall and HTTPS_PROXY",
  timeout: "try again later, or check the network",
  broken: "check base_url: it is the address that the vendor's own client is given",
  auth: "replace the api_key: the vendor does not accept it",
  forbidden: "give the key the permission, or use one of another project or region",
  rate_limited: "the key works, but its quota is used up: wait, or raise it at the vendor",
  invalid: "check base_url: the vendor does not know the address",
};

/** Asks a vendor whether it accepts the credential, by its cheapest call: the list of models, or the kind's probe. */
export async function checkProvider(provider: Provider): Promise<CheckedProvider> {
  const check = `provider ${idOf(provider)}`;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    if (provider.listModels !== undefined) {
      const models = await provider.listModels(signal);
      return {
        finding: ok(check, `the vendor accepts the credential, and lists ${models.length} models`),
        listed: new Set(models.map(({ id }) => id)),
      };
    }
    if (provider.probe === undefined) {
      return {
        finding: ok(check, "this kind has no call without cost, so its credential is not checked"),
        listed: null,
      };
    }
    await provider.probe(signal);
    return { finding: ok(check, "the vendor accepts the credential"), listed: null };
  } catch (error) {
    return { finding: failed(check, error), listed: null };
  }
}

function failed(check: string, error: unknown): Finding {
  if (!(error instanceof UpstreamFailure)) return problem(check, "the check itself failed", "report this as a bug");
  const advice = ADVICE[error.kind] ?? "try again later";
  const finding = error.kind === "rate_limited" || error.kind === "unavailable" ? warning : problem;
  return finding(check, error.message, advice);
}
