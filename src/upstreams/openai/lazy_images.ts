import type { EndpointPaths } from "../endpoint_paths.ts";
import { IMAGE_EXTRAS } from "../image_options.ts";
import type { ImageUpstream } from "../image_upstream.ts";
import type { Outbound } from "../outbound_call.ts";

/**
 * The Images API of OpenAI and compatible vendors, which the first request loads: most providers of this kind serve no
 * image models, and the schemas of the replies take memory. See `images.ts`.
 */
export function lazyImages(outbound: Outbound, pathOf: EndpointPaths): ImageUpstream {
  const load = async () => (await import("./images.ts")).openaiImages(outbound, pathOf);
  return {
    generate: async (order, call) => await (await load()).generate(order, call),
    edit: async (order, call) => await (await load()).edit(order, call),
    async *stream(order, call, kind) {
      yield* (await load()).stream(order, call, kind);
    },
    maxPerCall: 10,
    // Source: OpenAI API reference, "Create image", `svg` and `frame_count`.
    singleFormats: ["svg"],
    unstreamedFormats: ["gif", "svg"],
    sentOptions: () => ["background", "output_format", "input_fidelity", "svg", ...IMAGE_EXTRAS],
  };
}
