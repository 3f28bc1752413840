import { useId, useState } from "preact/hooks";
import { TEXTS } from "../../texts.ts";
import { type AmountKind, amountProblem } from "./amount_problem.ts";

const texts = TEXTS.accounts;

/** An amount in USD, as the field `amount` of a form. A form with a wrong one is not sent, and the problem is shown. */
export function AmountField({ kind }: { readonly kind: AmountKind }) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);
  const check = (input: HTMLInputElement) => {
    const found = amountProblem(input.value, kind);
    const text = found === null ? null : texts.amountProblems[found];
    input.setCustomValidity(text ?? "");
    return text;
  };
  return (
    <label class="field">
      <span>{kind === "signed" ? texts.signedAmount : texts.amount}</span>
      <input
        ref={(input) => {
          if (input !== null) check(input);
        }}
        name="amount"
        required
        inputMode={kind === "signed" ? "text" : "decimal"}
        autocomplete="off"
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : id}
        onInput={(event) => {
          const found = check(event.currentTarget);
          // A problem is shown when the form is sent, and goes when it is solved.
          if (problem !== null) setProblem(found);
        }}
        onInvalid={(event) => {
          event.preventDefault();
          setProblem(check(event.currentTarget));
          event.currentTarget.focus();
        }}
      />
      {problem !== null && <span id={id} class="problem" role="alert">{problem}</span>}
    </label>
  );
}
