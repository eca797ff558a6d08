import { readFileSync } from 'node:fs'

/** The content of a file such as one of /proc; empty if it is not there, or its process has ended. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
