import { readdirSync } from 'node:fs'
import { LoadError } from './load-error.ts'

/** Files that may be opened during a load: what reading an address or a source file takes. */
const RESERVE = 20

let knownLimit: number | undefined

/**
 * Refuses a load that would run out of files: each connection is one.
 * @throws {LoadError} saying how many may be open
 */
export function requireOpenFiles(connections: number): void {
  const limit = openFilesLimit()
  if (limit !== undefined && connections + filesOpen() + RESERVE > limit) throw tooFewFiles(connections)
}

export function tooFewFiles(connections: number): LoadError {
  const limit = openFilesLimit()
  const most = limit === undefined ? 'too few open files' : `only ${limit} open files`
  return new LoadError(
    `This process is allowed ${most}, not enough for ${connections} connections: ` +
      'use fewer connections or raise the limit (ulimit -n).',
  )
}

/** Undefined where there is none, or it is not known. Asked for once: it takes milliseconds. */
function openFilesLimit(): number | undefined {
  knownLimit ??= readLimit()
  return Number.isInteger(knownLimit) ? knownLimit : undefined
}

function readLimit(): number {
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: string | number } } }
  return Number(report.userLimits?.open_files?.soft)
}

function filesOpen(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
