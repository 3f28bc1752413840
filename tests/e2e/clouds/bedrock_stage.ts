import { assert } from "@std/assert";
import { type Sandbox, startSandbox } from "../../../src/sandbox/mod.ts";
import { startTestGateway, type TestGateway, textModel } from "../../support/gateway.ts";
import type { ManualClock } from "../../support/manual_clock.ts";

export const CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0";
export const NOVA = "bedrock/global.amazon.nova-2-lite-v1:0";
/** A model with structured outputs. */
export const GPT_OSS = "bedrock/openai.gpt-oss-120b-1:0";

/** The secrets of the provider, which no line of the log may contain. */
export const ACCESS_KEY = "AKIAIOSFODNN7EXAMPLE";
export const SECRET_KEY = "sandbox-secret";

/** A gateway in front of the simulated Bedrock. */
export interface BedrockStage {
  readonly gateway: TestGateway;
  readonly sandbox: Sandbox;
}

/** Options of a stage. */
export interface BedrockStageOptions {
  /** The gateway's clock. Default: the system's. */
  readonly clock?: ManualClock;
  /** The vendor's clock. Default: the system's. */
  readonly vendorClock?: ManualClock;
  /** Added to the provider. */
  readonly provider?: Readonly<Record<string, unknown>>;
  /** Models in place of {@linkcode CLAUDE}, {@linkcode NOVA} and {@linkcode GPT_OSS}. */
  readonly models?: readonly object[];
}

/** Runs a test with a gateway in front of the simulated Bedrock. */
export async function withBedrock(
  play: (stage: BedrockStage) => Promise<void>,
  { clock, vendorClock, provider, models }: BedrockStageOptions = {},
): Promise<void> {
  const sandbox = await startSandbox({ port: 0, ...(vendorClock && { clock: vendorClock }) });
  const gateway = await startTestGateway({
    ...(clock && { clock }),
    config: {
      providers: {
        bedrock: {
          kind: "bedrock",
          region: "us-east-1",
          base_url: sandbox.baseUrls.bedrock,
          api_key: ACCESS_KEY,
          secret_key: SECRET_KEY,
          ...provider,
        },
      },
      models: models ?? [CLAUDE, NOVA, GPT_OSS].map((id) => textModel(id, ["bedrock"])),
    },
  });
  try {
    await play({ gateway, sandbox });
    assert(!gateway.logLines.some((line) => line.includes(SECRET_KEY) || line.includes("Signature=")));
  } finally {
    await gateway.stop();
    await sandbox.stop();
  }
}
