import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createRedactor, withoutCredentials } from "../../src/platform/lib/text/redact.ts";

const plain = createRedactor([]);

/** Visible ASCII, as a configured secret is. */
const secrets = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 8,
  maxLength: 80,
});

/** Forms in which a vendor can repeat a secret. */
const SPELLINGS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "URL-encoded": encodeURIComponent,
  "URL-encoded in lower case": (secret) =>
    encodeURIComponent(secret).replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()),
  "URL-encoded to the last sign": (secret) => [...secret].map((sign) => `%${hexOf(sign).slice(2)}`).join(""),
  "JSON-escaped": (secret) => JSON.stringify(secret).slice(1, -1),
  "JSON-escaped twice": (secret) => JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  "JSON-escaped with slashes": (secret) => JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
  "as JSON code units": (secret) => [...secret].map((sign) => `\\u${hexOf(sign)}`).join(""),
};

function hexOf(sign: string): string {
  return sign.charCodeAt(0).toString(16).padStart(4, "0");
}

for (const [name, spell] of Object.entries(SPELLINGS)) {
  Deno.test(`createRedactor() removes every configured secret ${name}`, () => {
    fc.assert(
      fc.property(secrets, fc.stringMatching(/^[a-z ]{0,20}$/), (secret, around) => {
        const clean = createRedactor([secret])(`${around} ${spell(secret)} ${around}`);
        assertEquals(clean, `${around} [redacted] ${around}`);
      }),
    );
  });
}

Deno.test("createRedactor() removes every configured secret in base64", () => {
  const clean = createRedactor(["key-of-ours/1?>"])(`token ${btoa("key-of-ours/1?>")} refused`);
  assertEquals(clean, "token [redacted] refused");
});

Deno.test("createRedactor() leaves no suffix of a secret that starts like another", () => {
  const redact = createRedactor(["production", "production-key-77"]);
  assertEquals(redact("bad production-key-77"), "bad [redacted]");
});

Deno.test("createRedactor() ignores secrets of under eight characters", () => {
  assertEquals(createRedactor(["", "model"])("the model is not there"), "the model is not there");
});

for (
  const text of [
    "Incorrect API key provided: sk-proj-abcDEF0123456789",
    "Incorrect API key provided: sk-proj-********************Zk4A",
    "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJhYWFhYWFhYSJ9.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg expired",
    "key AIzaSyA1234567890abcdefghijklmno is not valid",
    "header was Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc",
    "header was Basic dXNlcjpwYXNzd29yZA==",
    "organization org-AbCdEfGhIjKlMnOpQrStUvWx is over its limit",
    "organization: 6f1e3a52-0c7e-4a3e-9c1d-2f3b4c5d6e7f is over its limit",
    "API was not used in project 123456789012 before",
    "see https://user:word@host.example/x",
    "see https://host.example/x?key=abc",
    "see https://host.example/x?a=1&X-Amz-Signature=0f0f",
    "see https://host.example/x?a=1&access_token=0f0f",
    `bytes ${"iVBORw0KGgoAAAANSUhEUgAAAAUA".repeat(12)}==`,
  ]
) {
  Deno.test(`createRedactor() removes text that looks like a credential: ${text.slice(0, 60)}`, () => {
    const clean = plain(text);
    assert(clean.includes("[redacted]"), clean);
    assert(clean.length < text.length + 12);
  });
}

for (
  const text of [
    "user-friendliness-of-things matters to organisation-wide teams",
    "org-chartdepartment and proj-managementoffice are words",
    "skateboarding-lessons, skeptically-minded people, pkunzip-compatible archives, rk-fourthorder",
    "sk-learn-compatible-estimators are supported",
    "basic functionality, Basic understanding, bearer authentication, Bearer credentials",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    `${"donaudampfschifffahrt".repeat(14)} is a long word`,
    "https://docs.example.com/guides/prompt-caching/how-to-use-it#what-is-cached?topic=overview&page=2",
    `https://docs.example.com/${"a-long-path/with-many-short-words-and-v2/".repeat(8)}`,
    `short base64 like ${"aGVsbG8gd29ybGQ".repeat(10)} stays`,
    "messages.3.content.0.image.source.base64.data: expected at most 5242880 bytes, got 7340032",
    'Unsupported value: "temperature" does not support 0.2 with this model. Only the default (1) value is supported.',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
    "The tokenizer's key=value pairs are wrong",
  ]
) {
  Deno.test(`createRedactor() keeps an ordinary text: ${text.slice(0, 60)}`, () => {
    assertEquals(plain(text), text);
  });
}

Deno.test("createRedactor() truncates a text after 2,000 characters, in linear time also for hostile text", () => {
  const redact = createRedactor(["a-configured-secret"]);
  const slowPatterns = [
    "sk-",
    "eyJ",
    "eyJa.",
    "eyJ-",
    "org-",
    "a",
    "Bearer ",
    "//a:",
    "?key",
    "a-configured-secre",
    "/a-1Z",
  ];
  for (const pattern of slowPatterns) assert(redact(pattern.repeat(262_144 / pattern.length)).length <= 2_001);
});

Deno.test("createRedactor() cuts no secret in two at the end of the text it reads", () => {
  const secret = "k3y-".repeat(10);
  for (let before = 15_950; before < 16_010; before++) {
    const text = `${"x".repeat(10)} ${"QUJD1".repeat(3_000)} ${"y ".repeat((before - 15_012) / 2)}${secret}`;
    assert(!createRedactor([secret])(text).includes("k3y"));
    assert(!plain(text.replace(secret, "sk-abcdefgh12345678")).includes("sk-"));
  }
});

Deno.test("withoutCredentials() reads texts of many megabytes, and leaves no part of a long secret", () => {
  const words = ["a", "1", " ", "aB3+", "sk-", "Bearer ", "//a:", "?key=", "project 1", "eyJ-", `${"a".repeat(199)} `];
  for (const run of words) withoutCredentials(run.repeat(16_000_000 / run.length));
  for (const length of [200, 8_191, 8_192, 8_193, 8_391, 8_392, 16_384, 100_000]) {
    const encoded = "aB3d".repeat(length / 4 + 1).slice(0, length);
    assertEquals(withoutCredentials(`image ${encoded} end`), "image [redacted] end", String(length));
  }
});
