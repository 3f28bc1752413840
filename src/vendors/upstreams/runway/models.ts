import { ownValue } from "../../../platform/lib/collections/own_value.ts";

/** The pixels that a model supports, `<width>:<height>`, by the gateway's value of the resolution that is charged. */
export type PixelTable = Readonly<Record<string, readonly string[]>>;

/**
 * The request fields of one Runway model. Source: `@runwayml/sdk` 4.20.1, types of `text_to_video`, `image_to_video`.
 */
export interface RunwayModel {
  /** The values of `ratio` as pixels; absent if it is a named ratio or does not exist. */
  readonly pixels?: PixelTable;
  /** The same for requests with frames, if they differ. */
  readonly framePixels?: PixelTable;
  /** The values of `resolution` by the gateway's values; absent if the pixels decide it. */
  readonly resolutions?: Readonly<Record<string, string>>;
  /** The named values of `ratio`; absent if the pixels decide it or the field does not exist. */
  readonly ratios?: readonly string[];
  /** Whether the model has the field `audio`. */
  readonly takesAudio: boolean;
  /** Whether the model has the field `seed`. */
  readonly takesSeed: boolean;
  /** Whether the model accepts `auto` as length. */
  readonly takesAutoLength?: boolean;
}

const LANDSCAPE_OR_PORTRAIT = ["1280:720", "720:1280"];
const FULL_HD = ["1920:1080", "1080:1920"];
const GEN4_PIXELS = { "720p": [...LANDSCAPE_OR_PORTRAIT, "1104:832", "960:960", "832:1104", "1584:672"] };
const VEO_PIXELS = { "720p": LANDSCAPE_OR_PORTRAIT, "1080p": FULL_HD };

const SEEDANCE_480P = ["992:432", "864:496", "752:560", "640:640", "560:752", "496:864"];
const SEEDANCE_720P = ["1470:630", "1280:720", "1112:834", "960:960", "834:1112", "720:1280"];
const SEEDANCE_1080P = ["2206:946", "1920:1080", "1664:1248", "1440:1440", "1248:1664", "1080:1920"];
const SEEDANCE_4K = ["3840:1646", "3840:2160", "3840:2880", "3840:3840", "2880:3840", "2160:3840"];
const SEEDANCE = { takesAudio: true, takesSeed: true, takesAutoLength: true };
const SMALL_SEEDANCE = { ...SEEDANCE, pixels: { "480p": SEEDANCE_480P, "720p": SEEDANCE_720P } };

const WAN: RunwayModel = {
  pixels: {
    "480p": ["832:480", "720:544", "624:624", "544:720", "480:832"],
    "720p": ["1280:720", "1104:832", "960:960", "832:1104", "720:1280"],
    "1080p": ["1920:1080", "1648:1248", "1440:1440", "1248:1648", "1080:1920"],
  },
  // The first frame decides the ratio.
  framePixels: { "480p": ["auto_480p"], "720p": ["auto_720p"], "1080p": ["auto_1080p"] },
  takesAudio: true,
  takesSeed: false,
};

const WITH_AUDIO = { takesAudio: false, takesSeed: false };

const MODELS: Readonly<Record<string, RunwayModel>> = {
  "gen4.5": {
    pixels: { "720p": LANDSCAPE_OR_PORTRAIT },
    framePixels: GEN4_PIXELS,
    takesAudio: false,
    takesSeed: true,
  },
  "gen4_turbo": { pixels: GEN4_PIXELS, takesAudio: false, takesSeed: true },
  "veo3.1": { pixels: VEO_PIXELS, takesAudio: true, takesSeed: true },
  "veo3.1_fast": { pixels: VEO_PIXELS, takesAudio: true, takesSeed: true },
  "seedance2": {
    ...SEEDANCE,
    pixels: { "480p": SEEDANCE_480P, "720p": SEEDANCE_720P, "1080p": SEEDANCE_1080P, "4K": SEEDANCE_4K },
  },
  "seedance2_fast": SMALL_SEEDANCE,
  "seedance2_mini": SMALL_SEEDANCE,
  "seedance2_5": {
    ...SEEDANCE,
    pixels: {
      "480p": ["992:432", "854:480", "752:560", "640:640", "560:752", "480:854"],
      "720p": SEEDANCE_720P,
      "1080p": SEEDANCE_1080P,
    },
  },
  "wan3": WAN,
  "wan3_prime": WAN,
  "happyhorse_1_0": {
    pixels: {
      "720p": [...LANDSCAPE_OR_PORTRAIT, "960:960", "1108:832", "832:1108"],
      "1080p": [...FULL_HD, "1440:1440", "1662:1248", "1248:1662"],
    },
    framePixels: {},
    resolutions: { "720p": "720p", "1080p": "1080p" },
    ...WITH_AUDIO,
  },
  "gemini_omni_flash": { pixels: { "720p": LANDSCAPE_OR_PORTRAIT }, ...WITH_AUDIO },
  "gemini_omni_flash_1.1": {
    pixels: { "720p": LANDSCAPE_OR_PORTRAIT, "1080p": FULL_HD, "4K": ["3840:2160", "2160:3840"] },
    takesAutoLength: true,
    ...WITH_AUDIO,
  },
  "hailuo3": {
    resolutions: { "720p": "768p", "2K": "2k" },
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"],
    ...WITH_AUDIO,
  },
  "grok_imagine_1_5": {
    resolutions: { "480p": "480p", "720p": "720p", "1080p": "1080p" },
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3"],
    ...WITH_AUDIO,
  },
  "h3_max": { resolutions: { "480p": "480p", "720p": "768p" }, takesAudio: false, takesSeed: true },
};

/** For models that are newer than the table: the fields that most models have. */
const OTHER: RunwayModel = {
  pixels: { "720p": GEN4_PIXELS["720p"], "1080p": FULL_HD },
  takesAudio: true,
  takesSeed: true,
};

/** The request fields of the model of that name. */
export function runwayModel(name: string): RunwayModel {
  return ownValue(MODELS, name) ?? OTHER;
}
