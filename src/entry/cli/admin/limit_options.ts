import type { AdminArguments, AdminOption } from "./admin_arguments.ts";
import { UsageError } from "../usage_error.ts";

/** The value that removes a setting: `--rpm none`. */
const NONE = "none";

/** Fields of a request body by name; null removes the setting. */
export type BodyFields = Readonly<Record<string, unknown>>;

/**
 * The settings of an account among the options: `--overdraft 5 --budget 100/month`.
 *
 * @throws {UsageError} As {@linkcode keySettingsIn}.
 */
export function accountSettingsIn(args: AdminArguments): BodyFields {
  return {
    ...keySettingsIn(args),
    ...definedIn({
      overdraft: valueOf(args, "overdraft"),
      notification_url: valueOf(args, "notification-url"),
      webhook_format: valueOf(args, "webhook-format"),
    }),
  };
}

/**
 * The settings of a key among the options: `--name ci --models "openai/*" --expires 2027-01-01`.
 *
 * @throws {UsageError} If `--metadata` is not JSON.
 */
export function keySettingsIn(args: AdminArguments): BodyFields {
  return definedIn({
    name: valueOf(args, "name"),
    expires_at: expiryIn(args),
    ...limitsIn(args),
    metadata: valueOf(args, "metadata", metadataIn),
    ...captureIn(args),
    prompt_caching: valueOf(args, "prompt-caching"),
  });
}

/** Unix seconds. `--expires none` removes the end, `--expires 90d` is in 90 days. */
function expiryIn(args: AdminArguments): number | null | undefined {
  if (args.option("expires") === NONE) return null;
  const time = args.time("expires");
  return time === undefined ? undefined : Math.floor(time / 1_000);
}

/** `--capture none` is a setting of its own; `--capture inherit` removes the setting of a key. */
function captureIn(args: AdminArguments): BodyFields {
  const capture = args.option("capture");
  return { capture: capture === "inherit" ? null : capture };
}

/**
 * Returns the fields of a change.
 *
 * @param command The words of the command, for the message.
 * @param example An option of the command, for the message.
 * @throws {UsageError} If there are none.
 */
export function changesIn(fields: BodyFields, command: string, example: string): BodyFields {
  if (Object.keys(fields).length > 0) return fields;
  throw new UsageError(`switchyard ${command}: missing option: what to set, such as ${example}`);
}

function definedIn(fields: BodyFields): BodyFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function limitsIn(args: AdminArguments): BodyFields {
  return {
    models: valueOf(args, "models", listIn),
    endpoints: valueOf(args, "endpoints", listIn),
    providers: valueOf(args, "providers", listIn),
    ip_allow: valueOf(args, "ip-allow", listIn),
    rpm: valueOf(args, "rpm"),
    tpm: valueOf(args, "tpm"),
    concurrency: valueOf(args, "concurrency"),
    budget: valueOf(args, "budget", budgetIn),
  };
}

/** Text that is not valid stays text: the admin API answers with the expected form. */
function valueOf(args: AdminArguments, name: AdminOption, read: (text: string) => unknown = (text) => text): unknown {
  const text = args.option(name);
  if (text === undefined) return undefined;
  return text === NONE ? null : read(text);
}

function listIn(text: string): string[] {
  return text.split(",").map((item) => item.trim());
}

/** `20/month`. */
function budgetIn(text: string): { amount: string | undefined; per: string } {
  const [amount, ...per] = text.split("/");
  return { amount, per: per.join("/") };
}

function metadataIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError('switchyard: --metadata must be a JSON object, such as {"team":"search"}');
  }
}
