import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/tree/config_error.ts";

const read = (section: unknown) =>
  readConfig(JSON.stringify({ notifications: section }), "test.json", () => undefined).notifications;

Deno.test("notifications: an address with its secret, and thresholds of money and days", () => {
  const url = "https://ops.example.com/hook?team=1";
  assertEquals(read({ url, secret: "operator-secret", balance_low: ["5.00", 2, "14d"] }), {
    url,
    secret: "operator-secret",
    balanceLow: [{ text: "5.00", amount: 50_000_000_000n }, { text: "2", amount: 20_000_000_000n }, {
      text: "14d",
      days: 14,
    }],
  });
  assertEquals(read({ balance_low: [] }), { url: null, secret: null, balanceLow: [] });
});

const BAD: readonly (readonly [section: unknown, problem: string])[] = [
  [{ url: "https://ops.example.com" }, "notifications.secret: expected a secret"],
  [{ url: "http://ops.example.com", secret: "operator-secret" }, "notifications.url: expected an https address"],
  [{ url: "https://me:pw@ops.example.com", secret: "operator-secret" }, "notifications.url: expected an https address"],
  [{ url: "https://ops.example.com", secret: "short" }, "notifications.secret: expected a secret of 8 to"],
  [{ balance_low: ["0"] }, 'notifications.balance_low[0]: expected a decimal amount in USD above zero, such as "5.00"'],
  [{ balance_low: ["0d"] }, "notifications.balance_low[0]: expected a decimal amount"],
  [{ balance_low: ["-1"] }, "notifications.balance_low[0]: expected a decimal amount"],
  [{ balance_low: ["NaN"] }, "notifications.balance_low[0]: expected a decimal amount"],
  [{ balance_low: ["3d", "3d"] }, "notifications.balance_low: expected a list"],
  [{ balance_low: "3d" }, "notifications.balance_low: expected a list"],
  [{ webhook: "x" }, "notifications.webhook"],
];

for (const [section, problem] of BAD) {
  Deno.test(`notifications: ${JSON.stringify(section)} is refused`, () => {
    const error = assertThrows(() => read(section), ConfigError);
    assertStringIncludes(error.problems.join("\n"), problem);
    assertEquals(error.problems.join("\n").includes("short"), false);
  });
}
