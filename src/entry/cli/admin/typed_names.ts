import type { AdminArguments } from "./admin_arguments.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** Fields of the admin API whose option or argument has another name. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  expires_at: ["--expires"],
  amount: ["amount in USD", "signed amount in USD"],
  id: ["account ID"],
};

const FIELD = /^Cannot read "(\w+)[\w.]*": /;

/**
 * A message of the admin API in which the option or argument that was typed takes the place of the field. Other
 * messages stay as they are.
 */
export function inTypedNames(message: string, { typed }: Pick<AdminArguments, "typed">): string {
  const [start = "", field = ""] = FIELD.exec(message) ?? [];
  const names = [...(ownValue(NAMES, field) ?? []), `--${field.replaceAll("_", "-")}`, field];
  const name = names.find((each) => typed.has(each));
  if (start === "" || name === undefined) return message;
  const shown = name.startsWith("-") ? name : `the ${name}`;
  return `Cannot read ${shown} ${JSON.stringify(typed.get(name))}: ${message.slice(start.length)}`;
}
