import { useState } from "preact/hooks";
import { change, read } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { PageHead } from "../../components/page_head.tsx";
import type { Page } from "../../page.ts";
import { usePolled } from "../../lists/polled.ts";
import type { ListedProvider, Reconciliation } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { ComparedBills } from "./compared_bills.tsx";

/** The vendor's bill next to the ledger. */
export const billsPage: Page = {
  path: "bills",
  title: TEXTS.bills.title,
  icon: "bills",
  audience: "operators",
  View: Bills,
};

const DAY_MS = 86_400_000;

function Bills() {
  const { data } = usePolled(
    "providers",
    (signal) => read<{ readonly data: readonly ListedProvider[] }>("/admin/v1/providers", {}, signal),
  );
  const [found, setFound] = useState<Reconciliation | null>(null);
  const compare = async (fields: FormData) => {
    const [provider, from, to] = ["provider", "from", "to"].map((name) => String(fields.get(name) ?? ""));
    const file = fields.get("invoice");
    const invoice = file instanceof File && file.size > 0 ? await file.text() : undefined;
    setFound(null);
    setFound(await change<Reconciliation>("POST", "/admin/v1/reconcile", { provider, from, to, invoice }));
  };
  const yesterday = dateOf(Date.now() - DAY_MS);
  return (
    <>
      <PageHead title={TEXTS.bills.title} />
      <div class="grid">
        <section class="card wide">
          <p class="hint">{TEXTS.bills.hint}</p>
          <ActionForm submit={TEXTS.bills.compare} onSubmit={compare} isKept>
            <Field name={TEXTS.bills.provider}>
              <select name="provider" required>
                {(data?.data ?? []).map(({ name }) => <option key={name} value={name}>{name}</option>)}
              </select>
            </Field>
            <Field name={TEXTS.bills.from}>
              <input name="from" type="date" required defaultValue={`${yesterday.slice(0, 8)}01`} />
            </Field>
            <Field name={TEXTS.bills.to}>
              <input name="to" type="date" required defaultValue={yesterday} />
            </Field>
            <Field name={TEXTS.bills.invoice}>
              <input name="invoice" type="file" accept=".csv,text/csv" />
            </Field>
          </ActionForm>
        </section>
        {found !== null && <ComparedBills found={found} />}
      </div>
    </>
  );
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
