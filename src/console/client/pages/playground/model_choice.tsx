import { Field } from "../../components/action_form.tsx";
import type { ListedModel } from "../../shapes.ts";

/** A choice of one of the models, in groups by the first part of their ids. */
export function ModelChoice({ name, models, value, onChange }: {
  readonly name: string;
  readonly models: readonly ListedModel[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const groups = Map.groupBy(models, ({ id }) => id.split("/", 1).join());
  return (
    <Field name={name}>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {[...groups].map(([group, members]) => (
          <optgroup key={group} label={group}>
            {members.map(({ id }) => <option key={id} value={id}>{id}</option>)}
          </optgroup>
        ))}
      </select>
    </Field>
  );
}
