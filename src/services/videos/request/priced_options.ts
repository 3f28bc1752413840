import { invalidField } from "../../../platform/lib/basics/gateway_error.ts";
import type { JsonObject } from "../../../platform/lib/json/json_object.ts";
import { MEDIA_REASON } from "../../../vendors/upstreams/shared/videos/refused_options.ts";
import type { RefusedOptions } from "../../../vendors/upstreams/contract/video_upstream.ts";

const LENGTH = 'it sets the duration; use "duration"';
const RATE = "it sets the frame rate, which the price does not cover";
const SIZE = 'it sets the resolution of the video; use "resolution", "aspect_ratio" or "size"';
const TIER = "the model's price is for the provider's default tier";
const NEWS = 'the gateway receives notifications of the provider; use "callback_url" to receive task events';
const RESULT = "the gateway stores the result";

/** Reason for the rejection and the alternative, each with the names that vendors use for the option. */
const EVERYWHERE: readonly (readonly [why: string, names: string])[] = [
  [
    LENGTH,
    "duration durationseconds durationinseconds durations durationms seconds numseconds videoseconds videolength " +
    "videolengthseconds videoduration length lengthseconds clipduration outputduration outputseconds targetduration " +
    "maxduration frames numframes numberofframes framecount framenum framenumber videoframes maxframes totalframes " +
    "nframes numinterpolatedframes",
  ],
  [
    RATE,
    "fps framespersecond framerate outputfps targetfps videofps",
  ],
  [
    "one request generates one video",
    "n numvideos numberofvideos numvideospersample numoutputs numresults numberresults numberofresults samplecount " +
    "numsamples numgenerations videocount outputcount batchsize batchcount numimages",
  ],
  [
    SIZE,
    "resolution outputresolution videoresolution targetresolution size videosize imagesize width height videowidth " +
    "videoheight dimensions quality upscale upscalefactor enableupscale superresolution",
  ],
  [
    'it sets whether the video has audio; use "generate_audio"',
    "generateaudio generateaudioswitch audio audioenabled addaudio withaudio enableaudio hasaudio sound enablesound " +
    "withsound bgm soundeffects",
  ],
  ['it changes the price; use "model"', "model models modelname modelid modelversion version"],
  [TIER, "servicetier tier serviceclass processingtier"],
  [
    NEWS,
    "callbackurl callbackuri callback callbacks webhook webhooks webhookurl webhookuri webhookconfig webhookevents " +
    "webhookeventsfilter falwebhook notifyhook notifyurl notificationurl pubsubtopic",
  ],
  [
    // A video that is not returned through the gateway would not be charged.
    RESULT,
    "storageuri storageoptions gcsuri outputgcsuri outputgcsbucket outputs3uri outputurl outputuri syncmode",
  ],
];

/**
 * Options never sent to any vendor. Source: video API references of Ark, xAI, MiniMax, fal, Google, Runway, Kling,
 * Replicate, Vidu, Luma, Pika.
 */
const REFUSED_EVERYWHERE: ReadonlyMap<string, string> = new Map(
  EVERYWHERE.flatMap(([why, names]) => names.split(" ").map((name) => [plainName(name), why] as const)),
);

/** Patterns of vendor-specific names for the same options, such as `export_fps`. */
const REFUSED_PATTERNS: readonly (readonly [why: string, pattern: RegExp])[] = [
  [LENGTH, /duration|seconds|numframes|numberofframes|framecount|numsegments/],
  [RATE, /fps|framerate|framespersecond/],
  [SIZE, /resolution|upscal/],
  [TIER, /tier$/],
  [NEWS, /callback|webhook/],
  [RESULT, /upload(?:url|uri)/],
  [MEDIA_REASON, /(?:image|video|audio|mask)s?(?:url|uri)/],
];

/**
 * Rejects options that change the price, the receiver of notifications or the input media. The price is held by the
 * fields of the request, and only those fields are checked. Names match at any depth and in each part of a name such as
 * `input.num_frames`. Case is ignored, because some vendors accept `Duration` for `duration`.
 *
 * @param options Options for one provider.
 * @param refused Options that this provider's vendor rejects in addition to the common ones.
 * @param path Path of the options in the request.
 * @throws {GatewayError} `invalid_request`, with the option and the alternative.
 */
export function refuseOptions(options: JsonObject, refused: RefusedOptions, path: string): void {
  const visit = (value: unknown, at: string): void => {
    if (Array.isArray(value)) return value.forEach((item, index) => visit(item, `${at}[${index}]`));
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const why = reasonAgainst(name, refused);
      if (why !== undefined) throw invalidField(`${at}.${name}`, why);
      visit(member, `${at}.${name}`);
    }
  };
  visit(options, path);
}

function reasonAgainst(name: string, refused: RefusedOptions): string | undefined {
  for (const part of name.length > 128 ? [] : [name, ...name.split(/[.[\]/]/)]) {
    const plain = plainName(part);
    const why = Object.hasOwn(refused, plain) ? refused[plain] : REFUSED_EVERYWHERE.get(plain);
    if (why !== undefined) return why;
    const found = REFUSED_PATTERNS.find(([, pattern]) => pattern.test(plain));
    if (found !== undefined) return found[0];
  }
  return undefined;
}

/** Returns letters and digits in lower case. `\u017f` counts as `s`, because some vendors fold case by Unicode. */
function plainName(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
