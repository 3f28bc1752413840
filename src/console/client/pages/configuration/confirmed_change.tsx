import { useState } from "preact/hooks";
import { type ApiError, change } from "../../api.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import type { ConfigDifference } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import type { ConfigRequest } from "./config_change.ts";
import { Difference } from "./difference.tsx";

/** The answer of a change of the configuration. */
export interface ConfigChangeAnswer extends ConfigDifference {
  /** Of the settings in the store. */
  readonly version: number;
}

/** A change that was tried and waits to be applied. */
interface Tried {
  readonly request: ConfigRequest;
  readonly difference: ConfigChangeAnswer;
}

/** The steps of a change: its difference is read first, and it is applied on demand. */
export interface ConfirmedChange {
  /** Reads the difference of a change. */
  readonly preview: (request: ConfigRequest) => Promise<void>;
  /** Forgets the difference, since something else is edited now. */
  readonly discard: () => void;
  /** Whether a difference is shown. */
  readonly isShown: boolean;
  /** The difference with its buttons, or what was wrong; nothing before the first preview. */
  readonly steps: preact.JSX.Element;
}

/** Shows the difference of a change before it is applied. */
export function useConfirmedChange(onApplied: (answer: ConfigChangeAnswer) => void): ConfirmedChange {
  const [tried, setTried] = useState<Tried | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async ({ method, path, body }: ConfigRequest, query: string) => {
    setBusy(true);
    setError(null);
    try {
      return await change<ConfigChangeAnswer>(method, path + query, body);
    } catch (failure) {
      setError(failure as ApiError);
      return null;
    } finally {
      setBusy(false);
    }
  };
  const preview = async (request: ConfigRequest) => {
    setTried(null);
    const difference = await send(request, "?dry_run=true");
    if (difference !== null) setTried({ request, difference });
  };
  const discard = () => {
    setTried(null);
    setError(null);
  };
  const apply = async () => {
    if (tried === null) return;
    const answer = await send(tried.request, "");
    if (answer === null) return;
    setTried(null);
    onApplied(answer);
  };
  const steps = (
    <>
      {error !== null && <ErrorNotice error={error} />}
      {tried !== null && (
        <div role="status">
          <h3>{TEXTS.configuration.difference}</h3>
          <Difference difference={tried.difference} />
          <p class="actions steps">
            <button type="button" class="primary" disabled={isBusy} onClick={() => void apply()}>
              {TEXTS.configuration.apply}
            </button>
            <button type="button" onClick={discard}>{TEXTS.configuration.discard}</button>
          </p>
        </div>
      )}
    </>
  );
  return { preview, discard, isShown: tried !== null, steps };
}
