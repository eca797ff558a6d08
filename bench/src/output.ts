import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { oneLine } from './text.ts'

/** A place that cannot be written to; the message is a sentence. */
export class OutputError extends Error {
  override name = 'OutputError'
}

/**
 * Makes sure, before minutes are spent on measuring, that the result can be written.
 * @param directory for result.json and report.md, made if absent
 * @param json one more file, or `-`, or undefined
 * @throws {OutputError}
 */
export function prepareOutput(directory: string, json: string | undefined): void {
  tryToWrite(directory, `Nothing can be written to ${directory}`, '--output')
  if (json === undefined || json === '-') return
  if (statSync(json, { throwIfNoEntry: false })?.isDirectory())
    throw new OutputError(`${json} is a directory: give --json the name of a file, or -.`)
  tryToWrite(dirname(resolve(json)), `${json} cannot be written`, '--json')
}

/** Permissions alone do not tell: a full or read-only disk has them too. */
function tryToWrite(directory: string, what: string, option: string): void {
  const probe = join(directory, `.${process.pid}.tmp`)
  try {
    mkdirSync(directory, { recursive: true })
    writeFileSync(probe, 'x')
    rmSync(probe)
  } catch (error) {
    throw new OutputError(`${what} (${oneLine(error)}): choose another place with ${option}.`, {
      cause: error,
    })
  }
}
