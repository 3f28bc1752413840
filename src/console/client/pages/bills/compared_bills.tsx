import { DataTable } from "../../components/tables/data_table.tsx";
import { Stat } from "../../components/stat.tsx";
import { number } from "../../format.ts";
import { hrefOf } from "../../navigation.ts";
import type { BillReason, Reconciliation } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Rows that are shown; the command and the API have all. */
const MAX_ROWS = 500;

/** The sums of both sides, what can explain differences, and the rows. */
export function ComparedBills({ found }: { readonly found: Reconciliation }) {
  const { total, explanations, days } = found;
  const marked = days.filter(({ state }) => state !== "complete");
  return (
    <>
      <dl class="stats wide">
        <Stat name={TEXTS.bills.theirs}>{usd(total.theirs.cost)}</Stat>
        <Stat name={TEXTS.bills.ours}>{usd(total.ours.cost)}</Stat>
        <Stat name={TEXTS.bills.difference}>{usd(total.difference.cost)}</Stat>
      </dl>
      {marked.length > 0 && (
        <section class="card wide">
          <h2>{TEXTS.bills.days}</h2>
          <ul>{marked.map(({ day, state }) => <li key={day}>{`${day}: ${TEXTS.bills.states[state]}`}</li>)}</ul>
        </section>
      )}
      <section class="card wide">
        <h2>{TEXTS.bills.explanations}</h2>
        {explanations.length === 0 && <p class="hint">{TEXTS.bills.equal}</p>}
        {explanations.map(({ day, model, difference, reasons }) => (
          <div key={`${day} ${model}`}>
            <h3>{TEXTS.bills.row(model, day, usd(difference))}</h3>
            <ul>{reasons.map((reason) => <Reason key={reason.text} reason={reason} />)}</ul>
          </div>
        ))}
      </section>
      <section class="card wide">
        <h2>{TEXTS.bills.rows}</h2>
        <Rows found={found} />
      </section>
    </>
  );
}

function Reason({ reason: { text, requests } }: { readonly reason: BillReason }) {
  return (
    <li>
      {text}
      {requests.map((id) => <a key={id} class="button" href={hrefOf(`requests/${id}`)}>{id}</a>)}
    </li>
  );
}

function Rows({ found: { data } }: { readonly found: Reconciliation }) {
  return (
    <>
      <DataTable
        label={TEXTS.bills.rows}
        rows={data.slice(0, MAX_ROWS)}
        keyOf={({ day, model }) => `${day} ${model}`}
        columns={[
          { title: TEXTS.bills.day, cell: ({ day }) => day ?? TEXTS.bills.wholeRange },
          { title: TEXTS.bills.model, cell: ({ model }) => <code>{model}</code> },
          { title: TEXTS.bills.theirs, cell: ({ theirs }) => usd(theirs.cost), isNumeric: true },
          { title: TEXTS.bills.ours, cell: ({ ours }) => usd(ours.cost), isNumeric: true },
          { title: TEXTS.bills.difference, cell: ({ difference }) => usd(difference.cost), isNumeric: true },
          { title: TEXTS.bills.requests, cell: ({ difference }) => count(difference.requests), isNumeric: true },
          { title: TEXTS.bills.input, cell: ({ difference }) => count(difference.input_tokens), isNumeric: true },
          { title: TEXTS.bills.output, cell: ({ difference }) => count(difference.output_tokens), isNumeric: true },
        ]}
      />
      {data.length > MAX_ROWS && <p class="hint">{TEXTS.bills.more(number(data.length - MAX_ROWS))}</p>}
    </>
  );
}

/** All digits: differences can be small. */
function usd(amount: string): string {
  return amount.replace(/\.?0+$/, "");
}

function count(value: number | null): string {
  return value === null ? TEXTS.bills.unknown : number(value);
}
