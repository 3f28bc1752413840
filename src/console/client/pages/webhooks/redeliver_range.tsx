import { useState } from "preact/hooks";
import { ApiError, change } from "../../api.ts";
import { ActionForm, Field } from "../../components/action_form.tsx";
import { Card } from "../../components/card.tsx";
import { number } from "../../format.ts";
import { TEXTS } from "../../texts.ts";

const STATES = ["exhausted", "delivered"] as const;

interface RangeAnswer {
  readonly redelivered: number;
  /** The `after` of the next call; null at the end of the range. */
  readonly next: string | null;
}

/** Delivers all events of a span of time again. */
export function RedeliverRange({ onRedelivered }: { readonly onRedelivered: () => void }) {
  const [count, setCount] = useState<number | null>(null);
  const redeliver = async (fields: FormData) => {
    const [from, to] = [secondsIn(fields, "from"), secondsIn(fields, "to")];
    const state = String(fields.get("state"));
    setCount(0);
    let total = 0;
    // A call restarts a part of a large range.
    // Ends with the range: each part begins after the one before.
    for (let after: string | null = ""; after !== null;) {
      const range: Record<string, unknown> = { from, to, state, ...after !== "" && { after } };
      const answer: RangeAnswer = await change<RangeAnswer>("POST", "/admin/v1/deliveries/redeliver", range);
      total += answer.redelivered;
      setCount(total);
      after = answer.next;
    }
    onRedelivered();
  };
  return (
    <Card title={TEXTS.webhooks.rangeTitle}>
      <p class="hint">{TEXTS.webhooks.rangeHint}</p>
      <ActionForm submit={TEXTS.webhooks.redeliver} isKept onSubmit={redeliver}>
        <Field name={TEXTS.webhooks.from}>
          <input name="from" type="datetime-local" required />
        </Field>
        <Field name={TEXTS.webhooks.to}>
          <input name="to" type="datetime-local" required />
        </Field>
        <Field name={TEXTS.webhooks.state}>
          <select name="state">
            {STATES.map((each) => <option key={each} value={each}>{TEXTS.webhooks.states[each]}</option>)}
          </select>
        </Field>
      </ActionForm>
      {count !== null && <p class="notice good" role="status">{TEXTS.webhooks.rangeDone(number(count))}</p>}
    </Card>
  );
}

/** @throws {ApiError} If the field has no time. */
function secondsIn(fields: FormData, name: string): number {
  const at = Date.parse(String(fields.get(name)));
  if (Number.isNaN(at)) throw new ApiError(TEXTS.webhooks.noTime, 0, "invalid_time", null);
  return Math.floor(at / 1_000);
}
