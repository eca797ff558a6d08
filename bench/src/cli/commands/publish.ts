import { resolve } from 'node:path'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { listOf } from '@startgrid/cli/text.ts'
import { directoryOfPerson } from '@startgrid/loadgen/request.ts'
import { STUDIES } from '../../../studies/index.ts'
import { DOCS, storeResult, writePages } from '../../publish.ts'
import { isStudy } from '../../result/experiment.ts'
import { openResults } from '../../result/result-file.ts'
import { PUBLISH } from '../options.ts'
import type { Program } from '../program.ts'

/**
 * `publish [RESULT …]`: results into docs, and the pages made of them.
 * @returns the exit code
 * @throws {UsageError} for wrong words, {ResultError} if a file is not a result or a page has no place for figures
 */
export async function publishCommand(args: readonly string[], { name }: Program): Promise<number> {
  const { positionals } = readCommandLine(args, PUBLISH, `${name} publish`)
  const results = positionals
    .flatMap((path) => openResults(resolve(directoryOfPerson(), path)))
    .map(({ result }) => result)
  for (const result of results)
    say(`Stored: ${storeResult(result) ?? 'nothing, because docs have no page for it'}.`)
  const named = results.flatMap(({ experiment }) => (isStudy(experiment) ? experiment.name : []))
  const missing = writePages(STUDIES, DOCS, results.length === 0 ? undefined : named)
  const whose = results.length === 0 ? 'all studies' : listOf(named) || 'no study'
  say(`Made again: docs/studies/README.md and the figures in the pages of ${whose}.`)
  if (missing.length > 0) say(`No result is stored of ${listOf(missing)}.`)
  return 0
}

function say(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}
