/** The yes-words of settings in the environment (core.md E.5): `1`, `true`, `yes`, `on`, in any case. */
export function isYes(value: string | undefined): boolean {
  return value !== undefined && /^(?:1|true|yes|on)$/i.test(value.trim());
}
