import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { problemsOf } from "./support.ts";

/** Places for a secret, each in a file with other mistakes around it. */
const PLACES = [
  (value: string) => `providers: { one: { kind: ${value}, api_key: x } }`,
  (value: string) => `providers: { one: { kind: openai, api_key: x, base_url: ${value} } }`,
  (value: string) => `providers: { one: { kind: openai, api_key: ${value} } }`,
  (value: string) => `providers: { one: { kind: google, api_key: ${value}, speaks: ${value} } }`,
  (value: string) => `providers: { one: { kind: openai, headers: { content-type: ${value}, x-a: [${value}] } } }`,
  (value: string) => `providers: { one: ${value} }`,
  (value: string) => `server: { port: ${value}, host: ${value}, admin_key: ${value}, base_url: ${value} }`,
  (value: string) => `accounts: [{ id: ${value}, balance: ${value}, keys: [${value}, ${value}] }]`,
  (value: string) => `accounts: [{ id: ${value}, webhook_secret: ${value} }, { id: ${value}, keys: ${value} }]`,
  (value: string) => `models: [{ id: ${value}, pricing: { prompt: ${value} }, serves: [{ provider: ${value} }] }]`,
  (value: string) => `models: [{ id: a/b, serves: ${value}, created: ${value} }, { id: ${value} }, { id: ${value} }]`,
  (value: string) => `tracing: { endpoint: ${value}, headers: { host: ${value}, x-a: [${value}] }, ratio: ${value} }`,
  (value: string) => `egress: { allow: [${value}] }\nlogs: { level: ${value} }\nstore: ${value}\nlimits: ${value}`,
];

const secrets = fc.stringMatching(/^[!-~]{12,60}$/).filter((secret) => secret.trim().length === secret.length);

Deno.test("no message shows a value of the environment", () => {
  fc.assert(
    fc.property(secrets, fc.constantFrom(...PLACES), (secret, place) => {
      const problems = problemsOf(`${place("${SECRET}")}\nunknown: 1`, { SECRET: secret });
      assertEquals(problems.length > 0, true);
      for (const line of problems) assertEquals(line.includes(secret), false, line.replaceAll(secret, "<secret>"));
    }),
    { numRuns: 600 },
  );
});

const keys = fc.stringMatching(/^(sk-[a-z]{2,5}-)[A-Za-z0-9]{20,40}$/);

Deno.test("no message shows a key in the file, at its place or another", () => {
  fc.assert(
    fc.property(keys, fc.constantFrom(...PLACES), (key, place) => {
      for (const line of problemsOf(`${place(`"${key}"`)}\n"${key}": 1\nserver: { "${key}": 1 }`)) {
        assertEquals(line.includes(key), false, line.replaceAll(key, "<key>"));
      }
    }),
    { numRuns: 400 },
  );
});

const SECRET_FIELDS = ["api_key", "admin_key", "webhook_secret", "keys", "secret_access_key"];

Deno.test("a value of a secret field is never shown", () => {
  for (
    const text of [
      "server: { admin_key: tulip }",
      "server: { admin_key: 424242 }",
      "accounts: [{ id: a, webhook_secret: [tulip] , keys: [tulip, 424242] }]",
      "providers: { a: { kind: openai, api_key: 424242, headers: { host: tulip, x-a: 424242 } } }",
      "accounts: [{ id: a, keys: tulip }]",
      "files: s3://results\nfiles_credentials: { access_key_id: a, secret_access_key: 424242 }",
    ]
  ) {
    const lines = problemsOf(text).filter((line) => SECRET_FIELDS.some((field) => line.includes(field)));
    assertEquals(lines.length > 0, true, text);
    for (const line of lines) assertEquals(/tulip|424242/.test(line), false, line);
  }
});

Deno.test("a short word with the prefix of a key is not shown", () => {
  const problems = problemsOf("providers: { a: { kind: sk-tulip } }\nsk-tulip: 1");
  assertEquals(problems.length, 2);
  for (const line of problems) assertEquals(line.includes("tulip"), false, line);
});
