import { ACCOUNT_REASON, MEDIA_REASON, PRICE_REASON, refusedFor } from "../shared/videos/refused_options.ts";
import type { RefusedOptions } from "../contract/video_upstream.ts";

/**
 * Options that no caller may set. `num_frames` overrides `duration`. A length can also be that of an input video or
 * audio. Source: fal, "Model API reference", the input schemas and prices of each model.
 */
export const REFUSED_OPTIONS: RefusedOptions = {
  ...refusedFor(PRICE_REASON, [
    ...["acceleration", "mode", "priority", "draft", "draftmode", "interpolatormodel", "adjustfpsforinterpolation"],
    ...["promode", "turbomode", "useturbo", "enabledetailpass", "userife", "generatemulticlipswitch", "multiprompt"],
    ...["loras", "voiceids", "voicelist", "endframenum", "startframenum", "extend", "extendduration", "autoduration"],
  ]),
  ...refusedFor(MEDIA_REASON, [
    ...["image", "imageurl", "imageurls", "images", "startimageurl", "endimageurl", "tailimageurl", "firstframeurl"],
    ...["lastframeurl", "firstimageurl", "lastimageurl", "referenceimageurl", "referenceimageurls", "referenceimages"],
    ...["subjectreferenceimageurl", "video", "videourl", "videourls", "referencevideourl", "referencevideourls"],
    ...["audiourl", "audiourls", "referenceaudiourl", "referenceaudiourls", "maskurl", "maskimageurl", "keyframes"],
    ...["elements", "dynamicmasks"],
  ]),
  ...refusedFor(ACCOUNT_REASON, ["characterids", "keyframeid", "videoid"]),
};
