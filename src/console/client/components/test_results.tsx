import { duration } from "../format.ts";
import type { ProviderTest } from "../shapes.ts";
import { TEXTS } from "../texts.ts";

/** What the vendor of a provider has answered to a test, for each credential. */
export function TestResults({ results }: { readonly results: ProviderTest["data"] }) {
  return results.map(({ credential, ok, message, latency_ms }) => (
    <p key={credential ?? ""} class={ok ? "notice good" : "notice bad"} role="status">
      {credential !== null && <strong>{credential}:</strong>} {message} {TEXTS.providers.latency(duration(latency_ms))}
    </p>
  ));
}
