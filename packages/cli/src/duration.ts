/** Milliseconds as a person writes them: `500 ms`, `5 s`, `1.5 s`. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${milliseconds / 1_000} s`
}

/** Milliseconds as minutes and seconds: `3:05`. */
export function formatMinutes(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
