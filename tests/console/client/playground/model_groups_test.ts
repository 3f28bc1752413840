import { assertEquals } from "@std/assert";
import { modelGroupOf, withAliases } from "../../../../src/console/client/pages/playground/model_groups.ts";
import type { ListedModel } from "../../../../src/console/client/shapes.ts";

const model = (id: string, inputs: string[], outputs: string[], aliases: string[] = []) =>
  ({
    id,
    aliases,
    architecture: { input_modalities: inputs, output_modalities: outputs },
  }) as unknown as ListedModel;

Deno.test("playground: models are grouped by what they do, and aliases are models of their name", () => {
  const models = withAliases([
    model("acme/text", ["text"], ["text"], ["fast", "team/fast"]),
    model("acme/vision", ["text", "image"], ["text"]),
    model("acme/draws", ["text"], ["text", "image"]),
    model("acme/films", ["text", "image"], ["video"]),
  ]);
  assertEquals(models.map((each) => [each.id, modelGroupOf(each)]), [
    ["acme/text", "text"],
    ["fast", "aliases"],
    ["team/fast", "aliases"],
    ["acme/vision", "vision"],
    ["acme/draws", "images"],
    ["acme/films", "videos"],
  ]);
});
