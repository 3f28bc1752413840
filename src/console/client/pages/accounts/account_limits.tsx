import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error_notice.tsx";
import { Loading } from "../../components/loading.tsx";
import { PageHead } from "../../components/page_head.tsx";
import { hrefOf } from "../../navigation.ts";
import { usePolled } from "../../lists/polled.ts";
import type { AccountWithLeft } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { changedFields, textsIn, textsOf } from "../forms/limit_fields.ts";
import { LimitInputs } from "../forms/limit_inputs.tsx";
import { LimitsLeft } from "./limits_left.tsx";

/** The name, the limits and the overdraft of an account, which operators change. */
export function AccountLimits({ id }: { readonly id: string }) {
  const address = `/admin/v1/accounts/${encodeURIComponent(id)}`;
  const { data, error, reload } = usePolled(`limits ${id}`, (signal) => read<AccountWithLeft>(address, {}, signal));
  const [isSaved, setSaved] = useState(false);
  const save = async (fields: FormData) => {
    if (data === null) return;
    setSaved(false);
    await change("PATCH", address, changedFields(textsOf(data), textsIn(fields)));
    setSaved(true);
    reload();
  };
  return (
    <>
      <p class="back">
        <a href={hrefOf(`accounts/${encodeURIComponent(id)}`)}>← {id}</a>
      </p>
      <PageHead title={TEXTS.accounts.changeLimits} />
      {error !== null && <ErrorNotice error={error} />}
      {data === null && error === null && <Loading />}
      {data !== null && (
        <div class="grid">
          <Card title={TEXTS.own.accountLeft} isWide>
            <LimitsLeft left={data.left} />
          </Card>
          <Card title={TEXTS.accounts.limits} isWide>
            <p class="hint">{TEXTS.accounts.limitsHint}</p>
            <ActionForm submit={TEXTS.accounts.save} onSubmit={save} isKept>
              <LimitInputs holder="account" texts={textsOf(data)} isOpen />
            </ActionForm>
            {isSaved && <p class="notice good" role="status">{TEXTS.accounts.saved}</p>}
          </Card>
        </div>
      )}
    </>
  );
}
