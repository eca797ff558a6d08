const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

/** Milliseconds of a text such as `500ms`, `1.5s` or `1m`; undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)$/.exec(text) ?? []
  const factor = UNITS[unit]
  return number === undefined || factor === undefined ? undefined : Number(number) * factor
}

/** Milliseconds as a person writes them: `500 ms`, `5 s`, `1.5 s`. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${milliseconds / 1_000} s`
}

/** Milliseconds as minutes and seconds: `3:05`. */
export function formatMinutes(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
