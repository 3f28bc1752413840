import { assertEquals } from "@std/assert";
import { pathNameOf, publisherOf } from "../../../src/vendors/upstreams/vertex/publisher.ts";

Deno.test("vertex: the name of a model states its publisher", () => {
  for (
    const [name, publisher, inPath] of [
      ["gemini-2.5-pro", "google", "gemini-2.5-pro"],
      ["google/gemini-2.5-pro", "google", "gemini-2.5-pro"],
      ["publishers/google/models/gemma-3", "google", "gemma-3"],
      ["claude-sonnet-4-5@20250929", "anthropic", "claude-sonnet-4-5@20250929"],
      ["anthropic/claude-next", "anthropic", "claude-next"],
      ["meta/llama-4", null, "meta%2Fllama-4"],
      ["../../secrets", null, "..%2F..%2Fsecrets"],
      ["google/../x?y#z", "google", "..%2Fx%3Fy%23z"],
    ] as const
  ) {
    assertEquals([publisherOf(name), pathNameOf(name)], [publisher, inPath], name);
  }
});
