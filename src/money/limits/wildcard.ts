/**
 * Whether a text matches a pattern in which each `*` stands for any characters, also none. The time is at most the
 * product of the two lengths, whatever the pattern.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === pattern;
  if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail)) return false;
  const end = text.length - tail.length;
  let at = head.length;
  for (const part of rest) {
    // The first place is the best one: it leaves the most text to the parts that follow.
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
