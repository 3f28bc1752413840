import { invalidField } from "../lib/gateway_error.ts";

/** What the gateway says itself, so that its own value wins over an option of exactly this name. */
const OWN_NAMES: ReadonlySet<string> = new Set(["duration", "resolution"]);

/**
 * What vendors set a video's length, number, sound or model by, in small letters and without `_` and `-`. `frames` of Ark
 * counts more than its `duration`. Source: ModelArk, fal, MiniMax and xAI video API references.
 */
const PRICED: ReadonlySet<string> = new Set([
  ...["model", "models", "modelname", "resolution"],
  ...["duration", "durationseconds", "durationinseconds", "seconds", "numseconds", "videolength", "lengthseconds"],
  ...["frames", "numframes", "numberofframes", "framecount", "videoframes"],
  ...["n", "numvideos", "numberofvideos", "numoutputs", "samplecount", "videocount", "batchsize"],
  ...["generateaudio", "generateaudioswitch", "audio", "withaudio", "enableaudio", "hasaudio", "sound", "enablesound"],
]);

/**
 * Refuses options that decide what a video costs: its price is reserved by the fields of the request. Names are compared
 * without case, as some vendors read `Duration` as `duration`.
 *
 * @throws {GatewayError} `invalid_request`, naming the option.
 */
export function refusePricedOptions(options: object): void {
  for (const name of Object.keys(options)) {
    if (OWN_NAMES.has(name) || !PRICED.has(plainName(name))) continue;
    throw invalidField(
      `provider.options.${name}`,
      "it changes what the video costs; use the request's own duration, resolution, generate_audio and model",
    );
  }
}

function plainName(name: string): string {
  return name.length > 64 ? name : name.toUpperCase().toLowerCase().replace(/[_-]/g, "");
}
