import { assertEquals } from "@std/assert";
import type { Clock } from "../../src/platform/lib/basics/clock.ts";
import { type Made, madeBy, PROVIDER_KINDS } from "../../src/vendors/upstreams/kinds.ts";
import type { Provider } from "../../src/vendors/upstreams/contract/provider.ts";
import { readProviderConfig } from "../../src/vendors/upstreams/settings/provider_config.ts";
import { openProviders } from "../../src/vendors/upstreams/opening/providers.ts";
import { ManualClock } from "../support/manual_clock.ts";

const CONFIGS: Readonly<Record<string, Record<string, unknown>>> = {
  kling: { secret_key: "s" },
  vertex: { project: "acme", location: "global" },
  bedrock: { region: "us-east-1" },
};

/** What the adapter itself has. */
function madeIn({ capabilities }: Provider): Made[] {
  const { images, videos, embeddings, moderations, ranks, speech, transcripts } = capabilities;
  const made: (readonly [Made, unknown])[] = [
    ["image", images],
    ["edits", images?.edit],
    ["video", videos],
    ["embedding", embeddings],
    ["moderation", moderations],
    ["rerank", ranks],
    ["speech", speech],
    ["transcription", transcripts],
  ];
  return made.flatMap(([name, capability]) => capability == null ? [] : [name]);
}

Deno.test("what configurations are checked by is what the adapters make", async () => {
  const configs: Readonly<Record<string, Record<string, unknown>>> = {
    ...Object.fromEntries(PROVIDER_KINDS.map((kind) => [kind, { kind, ...CONFIGS[kind] }])),
    dated: { kind: "azure", base_url: "https://mine.openai.azure.com", api_version: "2024-10-21" },
  };
  const read = Object.entries(configs).map(([name, config]) =>
    [name, readProviderConfig({ base_url: "http://127.0.0.1:9", api_key: "k", ...config })] as const
  );
  const clock: Clock = new ManualClock();
  const providers = await openProviders(Object.fromEntries(read), { clock, caCerts: [] });
  try {
    for (const [name, { kind, apiVersion }] of read) {
      const made = madeIn(providers.byName.get(name)!);
      assertEquals([name, ...[...madeBy(kind, apiVersion !== undefined)].sort()], [name, ...made.sort()]);
    }
  } finally {
    providers.close();
  }
});
