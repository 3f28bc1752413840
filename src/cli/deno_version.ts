/** The first version of Deno with everything that the gateway uses. */
const NEEDED = [2, 9] as const;

/** Says which Deno is needed; null if this version is new enough. */
export function denoProblem(version: string): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  return isEnough ? null : `switchyard: needs Deno ${NEEDED.join(".")} or later, and this is Deno ${version}`;
}
