import { chat } from "../../../conversation/codecs/chat/mod.ts";
import { referencesIn } from "../../../conversation/contract/references.ts";
import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { ownValue } from "../../../platform/lib/collections/own_value.ts";
import type { VideoOrder, VideoUpstream } from "../../../vendors/upstreams/contract/video_upstream.ts";
import { refuseOptions } from "./priced_options.ts";
import type { ProviderOptions, TaskOrder } from "../tasks/task.ts";

/** Maximum length of `provider.options` as JSON. */
const MAX_OPTIONS_CHARACTERS = 4_000;

/**
 * Reads the options of a request as sent. {@linkcode optionsByProvider} assigns them to providers.
 *
 * @throws {GatewayError} `invalid_request` unless they are an object within the size limit.
 */
export function readSentOptions(provider: unknown): JsonObject {
  const options = isObject(provider) ? provider.options : undefined;
  if (options === undefined || options === null) return {};
  if (!isObject(options)) throw invalidField("provider.options", "expected an object");
  if (JSON.stringify(options).length > MAX_OPTIONS_CHARACTERS) {
    throw invalidField("provider.options", `expected at most ${MAX_OPTIONS_CHARACTERS} characters of JSON`);
  }
  return options;
}

/** The facts that determine the provider of options. */
export interface OptionContext {
  /** Id of the model, for the error message. */
  readonly model: string;
  /** Providers that serve the model. */
  readonly serving: readonly string[];
  readonly pin: string | null;
  readonly isProvider: (name: string) => boolean;
  readonly upstreams: ReadonlyMap<string, Pick<VideoUpstream, "refusedOptions">>;
}

/**
 * Assigns options to providers. Options are keyed by the names of configured providers, `{"ark": {"watermark":
 * false}}`, so each provider gets only its own, also on a fallback. With a requested provider (`provider.type`) they
 * may also be flat and then belong to it.
 *
 * Options that change the price, the receiver of notifications or the input media are rejected. `priced_options.ts`
 * lists the names for all vendors, {@linkcode VideoUpstream.refusedOptions} those of one vendor. A new adapter lists
 * every vendor option that overlaps with a field of the request: durations, counts, sizes, sound, tiers, paid tools and
 * media fields. Names are in lower case without `_` and `-`; the value names the alternative. The adapter sends
 * `order.options` before its own fields, so its own fields win.
 *
 * @throws {GatewayError} `invalid_request` for options of no known provider and for options that callers may not set.
 */
export function optionsByProvider(sent: JsonObject, owners: OptionContext): ProviderOptions {
  const { pin, upstreams } = owners;
  if (Object.keys(sent).length === 0) return {};
  const isFlat = pin !== null && !Object.entries(sent).some(([name, own]) => owners.isProvider(name) && isObject(own));
  if (isFlat) {
    refuseOptions(sent, upstreams.get(pin)?.refusedOptions ?? {}, "provider.options");
    refuseOwnReferences(sent, "provider.options");
    return { [pin]: sent };
  }
  for (const [name, own] of Object.entries(sent)) {
    const path = `provider.options.${name}`;
    if (!owners.serving.includes(name)) throw ownerless(path, owners);
    if (!isObject(own)) throw invalidField(path, "expected an object with the options for this provider");
    refuseOptions(own, upstreams.get(name)?.refusedOptions ?? {}, path);
    refuseOwnReferences(own, path);
  }
  return sent as ProviderOptions;
}

/** Returns a task's order with the options of one provider. */
export function orderForProvider(order: TaskOrder, provider: string): Omit<TaskOrder, "optionsByProvider"> & Options {
  const { optionsByProvider, options: flat, ...rest } = order;
  if (optionsByProvider === undefined) return { ...rest, options: flat ?? {} };
  return { ...rest, options: ownValue(optionsByProvider, provider) ?? {} };
}

type Options = Pick<VideoOrder, "options">;

function ownerless(path: string, { model, serving, pin }: OptionContext): Error {
  const names = serving.map((name) => `"${name}"`).join(", ");
  const flat = pin === null ? ', or "provider.type" next to options of one provider' : "";
  return invalidField(path, `expected the name of a provider of "${model}" (${names}) with its options${flat}`);
}

/** An asset of the operator's vendor account may belong to another caller. */
function refuseOwnReferences(options: JsonObject, path: string): void {
  const [named] = referencesIn(chat.caller.grammar, options).filter(({ kind }) => kind !== "address");
  if (named === undefined) return;
  throw invalidField(
    `${path}.${named.field}`,
    "it names an object in the operator's vendor account; send data or a URL as a reference",
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
