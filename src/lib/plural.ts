/** `1 key`, `2 keys`, `3 processes`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : /(?:s|ch)$/.test(noun) ? "es" : "s"}`;
}
