import type { ComponentChildren } from "preact";
import { Instant } from "../../components/instant.tsx";
import { dollars, number } from "../../format.ts";
import type { OwnLimits } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";

/** Whether there is a limit of which something can be left. */
export function hasLimitsLeft({ rpm, tpm, concurrency, budget }: OwnLimits): boolean {
  return Boolean(rpm ?? tpm ?? concurrency ?? budget);
}

/** What the limits of a key or an account have left. */
export function LimitsLeft({ left }: { readonly left: OwnLimits }) {
  const { rpm, tpm, concurrency, budget } = left;
  if (!hasLimitsLeft(left)) return <p class="hint">{TEXTS.own.noLimits}</p>;
  return (
    <dl class="facts">
      {rpm && <Left name={TEXTS.own.rpm}>{number(rpm.left)}</Left>}
      {tpm && <Left name={TEXTS.own.tpm}>{number(tpm.left)}</Left>}
      {concurrency && <Left name={TEXTS.own.concurrency}>{number(concurrency.left)}</Left>}
      {budget && (
        <Left name={TEXTS.own.budget}>
          {dollars(budget.left)}
          {budget.resets_at !== null && (
            <div class="hint">
              {TEXTS.own.resets} <Instant at={budget.resets_at} />
            </div>
          )}
        </Left>
      )}
    </dl>
  );
}

function Left({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
