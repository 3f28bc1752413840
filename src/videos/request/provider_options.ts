import { chat } from "../../conversation/codecs/chat/mod.ts";
import { referencesIn } from "../../conversation/references.ts";
import { invalidField } from "../../lib/gateway_error.ts";
import type { JsonObject } from "../../lib/json_object.ts";
import { ownValue } from "../../lib/own_value.ts";
import type { VideoOrder, VideoUpstream } from "../../upstreams/video_upstream.ts";
import { refuseOptions } from "./priced_options.ts";
import type { ProviderOptions, TaskOrder } from "../tasks/task.ts";

/** Characters of `provider.options` as JSON. */
const MAX_OPTIONS_CHARACTERS = 4_000;

/**
 * The options of a request as they were sent. Whose they are is not asked here, see {@linkcode optionsByProvider}.
 *
 * @throws {GatewayError} `invalid_request` unless they are an object of a fair size.
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

/** By what it is known whose options were sent. */
export interface OptionOwners {
  /** The model's id, for the error. */
  readonly model: string;
  /** The providers that serve it. */
  readonly serving: readonly string[];
  readonly pin: string | null;
  readonly isProvider: (name: string) => boolean;
  readonly upstreams: ReadonlyMap<string, Pick<VideoUpstream, "refusedOptions">>;
}

/**
 * Whose options they are. They are keyed by the names of configured providers, `{"ark": {"watermark": false}}`, so that
 * each provider gets its own and a fallback never another's. Beside a pin (`provider.type`) they may also stand flat,
 * and are then those of the pinned provider.
 *
 * What decides the price, the receiver of news or the material is refused: everywhere by the names of
 * `priced_options.ts`, for one vendor by its adapter's {@linkcode VideoUpstream.refusedOptions}. A new adapter lists
 * there what its vendor reads beside the request's own fields: lengths, counts, sizes, sound, tiers, tools that cost
 * extra, and fields of media, by their names in small letters without `_` and `-`; the value tells the caller what to
 * use instead. The adapter then puts `order.options` before its own fields, so that those win.
 *
 * @throws {GatewayError} `invalid_request` for options without an owner, and for one that no caller may set.
 */
export function optionsByProvider(sent: JsonObject, owners: OptionOwners): ProviderOptions {
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

/** A task's order as one provider gets it: with the options that are its own. */
export function orderAt(order: TaskOrder, provider: string): Omit<TaskOrder, "optionsByProvider"> & Options {
  const { optionsByProvider, options: flat, ...rest } = order;
  if (optionsByProvider === undefined) return { ...rest, options: flat ?? {} };
  return { ...rest, options: ownValue(optionsByProvider, provider) ?? {} };
}

type Options = Pick<VideoOrder, "options">;

function ownerless(path: string, { model, serving, pin }: OptionOwners): Error {
  const names = serving.map((name) => `"${name}"`).join(", ");
  const flat = pin === null ? ', or "provider.type" beside options of one provider' : "";
  return invalidField(path, `expected the name of a provider of "${model}" (${names}) with its options${flat}`);
}

/** A name of something at the operator's vendor account would reach what is another caller's. */
function refuseOwnReferences(options: JsonObject, path: string): void {
  const [named] = referencesIn(chat.caller.grammar, options).filter(({ kind }) => kind !== "address");
  if (named === undefined) return;
  throw invalidField(
    `${path}.${named.field}`,
    "it names something at the operator's vendor account; send data or a web address as a reference",
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
