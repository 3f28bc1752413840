import { hrefOf, query } from "../../navigation.ts";
import type { FormProps } from "./form_props.ts";

/** The form that the address of a page names with `form`; empty for none. */
export function shownForm(): string {
  return query.value.get("form") ?? "";
}

/** The address of a form, which is below the page of what it changes. */
export function formHref(
  page: string,
  form: FormProps["form"],
  parameters: Readonly<Record<string, string>> = {},
): string {
  return hrefOf(page, { form, ...parameters });
}
