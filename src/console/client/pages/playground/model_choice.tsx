import { Field } from "../../components/action_form.tsx";
import type { ListedModel } from "../../shapes.ts";
import { TEXTS } from "../../texts.ts";
import { MODEL_GROUPS, modelGroupOf } from "./model_groups.ts";

/** A choice of one of the models, in groups by what they do. */
export function ModelChoice({ name, models, value, onChange }: {
  readonly name: string;
  readonly models: readonly ListedModel[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const groups = Map.groupBy(models, modelGroupOf);
  return (
    <Field name={name}>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {MODEL_GROUPS.filter((group) => groups.has(group)).map((group) => (
          <optgroup key={group} label={TEXTS.playground.modelGroups[group]}>
            {groups.get(group)?.map(({ id }) => <option key={id} value={id}>{id}</option>)}
          </optgroup>
        ))}
      </select>
    </Field>
  );
}
