import { assertEquals } from "@std/assert";
import { countedPathNameOf, isAnthropic, pathNameOf } from "../../../src/vendors/upstreams/bedrock/model_name.ts";

const ARN = "arn:aws:bedrock:us-east-1:123456789012:";

Deno.test("bedrock: the name of a model states its format", () => {
  for (
    const [name, isMessages, inPath, counted] of [
      [
        "anthropic.claude-3-haiku-20240307-v1:0",
        true,
        "anthropic.claude-3-haiku-20240307-v1%3A0",
        "anthropic.claude-3-haiku-20240307-v1%3A0",
      ],
      ["us.anthropic.claude-opus-4-6-v1", true, "us.anthropic.claude-opus-4-6-v1", "anthropic.claude-opus-4-6-v1"],
      ["us-gov.anthropic.claude-x", true, "us-gov.anthropic.claude-x", "anthropic.claude-x"],
      ["global.amazon.nova-2-lite-v1:0", false, "global.amazon.nova-2-lite-v1%3A0", "amazon.nova-2-lite-v1%3A0"],
      ["meta.llama4-maverick-17b-instruct-v1:0", false, "meta.llama4-maverick-17b-instruct-v1%3A0", null],
      [
        `${ARN}inference-profile/eu.anthropic.claude-x`,
        true,
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Feu.anthropic.claude-x",
        "anthropic.claude-x",
      ],
      [
        `${ARN}application-inference-profile/a1b2`,
        false,
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2",
        null,
      ],
      [
        `anthropic/${ARN}application-inference-profile/a1b2`,
        true,
        "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2",
        null,
      ],
      ["misanthropic.model", false, "misanthropic.model", null],
      ["../../secrets?x#y", false, "..%2F..%2Fsecrets%3Fx%23y", null],
    ] as const
  ) {
    assertEquals([isAnthropic(name), pathNameOf(name)], [isMessages, inPath], name);
    assertEquals(countedPathNameOf(name), counted ?? inPath, name);
  }
});
