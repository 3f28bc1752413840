import { assertEquals } from "@std/assert";
import { configOf, problemsOf } from "./support.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "the-secret-key" };

function providerOf(fields: string, env: Record<string, string> = {}) {
  return configOf(`providers: { aws: { kind: bedrock, ${fields} } }`, env).providers.aws;
}

function problemsIn(fields: string, env: Record<string, string> = {}) {
  return problemsOf(`providers: { aws: { kind: bedrock, ${fields} } }`, env);
}

Deno.test("bedrock: the region gives the address, and the address the region", () => {
  const placed = (fields: string, env?: Record<string, string>) => {
    const provider = providerOf(`api_key: k, ${fields}`, env);
    return [provider?.baseUrl, provider?.bedrock?.region];
  };
  const at = (host: string) => `https://${host}`;
  assertEquals(placed("region: eu-west-3"), [at("bedrock-runtime.eu-west-3.amazonaws.com"), "eu-west-3"]);
  assertEquals(placed("region: cn-north-1"), [at("bedrock-runtime.cn-north-1.amazonaws.com.cn"), "cn-north-1"]);
  for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION"]) {
    assertEquals(placed("", { [name]: "us-west-2" }), [at("bedrock-runtime.us-west-2.amazonaws.com"), "us-west-2"]);
  }
  for (
    const host of [
      "bedrock-runtime.us-west-2.amazonaws.com",
      "bedrock-runtime-fips.us-west-2.amazonaws.com",
      "vpce-0a1b-2c.bedrock-runtime.us-west-2.vpce.amazonaws.com",
    ]
  ) assertEquals(placed(`base_url: "https://${host}"`), [at(host), "us-west-2"]);
  assertEquals(placed('base_url: "http://relay.example", region: us-east-1'), ["http://relay.example", "us-east-1"]);
});

Deno.test("bedrock: keys come from the variables of AWS's own clients", () => {
  const keysOf = (fields: string, env: Record<string, string>) => {
    const { apiKey, secretKey, bedrock } = providerOf(`region: us-east-1, ${fields}`, env) ?? {};
    return [apiKey, secretKey, bedrock?.sessionToken];
  };
  assertEquals(keysOf("", KEYS), [KEYS.AWS_ACCESS_KEY_ID, KEYS.AWS_SECRET_ACCESS_KEY, null]);
  assertEquals(keysOf("", { ...KEYS, AWS_SESSION_TOKEN: "t" }), [
    KEYS.AWS_ACCESS_KEY_ID,
    KEYS.AWS_SECRET_ACCESS_KEY,
    "t",
  ]);
  assertEquals(keysOf("", { ...KEYS, AWS_BEARER_TOKEN_BEDROCK: "bearer" }), ["bearer", undefined, null]);
  // A provider with a key of its own, or at an address of its own, has none from there.
  assertEquals(keysOf("api_key: own", { ...KEYS, AWS_SESSION_TOKEN: "t" }), ["own", undefined, null]);
  assertEquals(keysOf('base_url: "http://relay.example"', KEYS), [null, undefined, null]);
});

Deno.test("bedrock: what is missing or does not fit is a problem", () => {
  assertEquals(problemsIn("api_key: k"), [
    'switchyard.yaml: providers.aws.region: expected a region such as "us-east-1", here or in AWS_REGION, got nothing',
  ]);
  assertEquals(problemsIn("region: us-east-1"), [
    "switchyard.yaml: providers.aws.api_key: expected a Bedrock API key, or an access key with its secret_key, here or in the " +
    "environment variables AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, got nothing",
  ]);
  assertEquals(problemsIn("region: us-east-1, api_key: AKIAIOSFODNN7EXAMPLE"), [
    "switchyard.yaml: providers.aws.secret_key: expected the secret key of the access key in api_key, got nothing",
  ]);
  assertEquals(problemsIn("region: us-east-1, api_key: k, session_token: tt"), [
    "switchyard.yaml: providers.aws.session_token: expected none without secret_key, got text of 2 characters",
  ]);
  assertEquals(problemsIn("region: US East, api_key: k").length, 1);
  assertEquals(problemsOf("providers: { a: { kind: openai, api_key: k, region: us-east-1, session_token: tt } }"), [
    'switchyard.yaml: providers.a.region: expected no such field for kind "openai", got "us-east-1"',
    'switchyard.yaml: providers.a.session_token: expected no such field for kind "openai", got text of 2 characters',
  ]);
});
