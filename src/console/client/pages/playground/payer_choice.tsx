import { useEffect } from "preact/hooks";
import { readActiveAccounts } from "../../active_accounts.ts";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { usePolled } from "../../lists/polled.ts";
import { session } from "../../session_state.ts";
import { TEXTS } from "../../texts.ts";
import { payer } from "./payer.ts";

/** The choice of the account that pays for an operator's requests. */
export function PayerChoice() {
  const { data, error } = usePolled("payers", readActiveAccounts);
  useEffect(() => {
    if (data === null) return;
    const isKnown = data.some(({ id }) => id === payer.value);
    // Where there is only one, nothing has to be chosen.
    if (!isKnown) payer.value = data.length === 1 ? data[0]?.id ?? "" : "";
  }, [data, session.value]);
  if (error !== null) return <ErrorNotice error={error} />;
  if (data?.length === 0) return <p class="hint">{TEXTS.playground.noAccounts}</p>;
  return (
    <label class="payer" title={TEXTS.playground.accountHint}>
      <span class="hint">{TEXTS.playground.account}</span>
      <select
        name="payer"
        value={payer.value}
        disabled={data === null}
        onChange={(event) => payer.value = event.currentTarget.value}
      >
        <option value="">{TEXTS.playground.chooseAccount}</option>
        {data?.map(({ id, name }) => <option key={id} value={id}>{name === null ? id : `${id} (${name})`}</option>)}
      </select>
    </label>
  );
}
