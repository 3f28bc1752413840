import type { Signal } from "@preact/signals";
import { Field } from "../../components/action_form.tsx";
import { TEXTS } from "../../texts.ts";

/** A choice of one of a few values; empty for the model's default. */
export function OptionField({ name, options, value, hasDefault = false }: {
  readonly name: string;
  readonly options: readonly string[];
  readonly value: Signal<string>;
  /** Whether the choice can be left to the model. Default: false. */
  readonly hasDefault?: boolean;
}) {
  return (
    <Field name={name}>
      <select value={value.value} onChange={(event) => value.value = event.currentTarget.value}>
        {hasDefault && <option value="">{TEXTS.playground.modelDefault}</option>}
        {options.map((option) => <option key={option} value={option}>{option}</option>)}
      </select>
    </Field>
  );
}
