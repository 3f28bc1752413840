import type { ConfigInForce } from "../../shapes.ts";

/** What a form is for. */
export interface FormProps {
  readonly form: "provider" | "model" | "alias" | "price" | "key";
  /** The id of what is changed, such as a model; empty for something new. */
  readonly subject: string;
}

/** What a form of a setting needs. */
export interface SettingFormProps {
  readonly config: ConfigInForce;
  readonly subject: string;
  /** Called after a change, which is then in `config`. */
  readonly onChanged: () => void;
}
