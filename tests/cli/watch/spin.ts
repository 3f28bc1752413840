/** Holds up this thread. */
export function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
