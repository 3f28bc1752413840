/**
 * Counts the message ports of this process that are open. One that is dropped without a close stays open, which the
 * test runner does not notice.
 */
export function openPorts(): number {
  const symbol: symbol = Reflect.get(Deno, "internal");
  const resources: Readonly<Record<string, string>> = Reflect.get(Deno, symbol).core.resources();
  return Object.values(resources).filter((name) => name === "messagePort").length;
}
