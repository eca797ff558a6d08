import { indented } from '@startgrid/cli/text.ts'
import type { Role } from '../contract/subject.ts'
import type { Target } from '../http/target.ts'
import { ATTACK_COUNT, checkDesync } from './desync.ts'
import { findSilence } from './dialogue.ts'
import { FORMS } from './forms.ts'
import { fuzz } from './fuzz.ts'
import { checkLimits, oversizedRequests } from './limits.ts'
import { checkRfc9112, type Deviations } from './rfc9112.ts'

/** HTTP below the contract: what a server does with bytes that no honest client sends. */

interface ProtocolOptions {
  readonly target: Target
  readonly role: Role
  /** Only checks whose name contains this. */
  readonly only?: string
  /** Of the random requests; printed with what they find. */
  readonly seed?: number
  /** How many random requests; 1,500 by default. */
  readonly runs?: number
  readonly signal?: AbortSignal
}

interface Part {
  readonly name: string
  readonly title: string
  readonly findings: readonly string[]
  /** Worth knowing, but not wrong. */
  readonly notes: readonly string[]
}

interface ProtocolReport {
  readonly seed: number
  readonly parts: Part[]
}

/** A cheap GET route of each role. */
const PATHS: Readonly<Record<Role, string>> = { hello: '/json', ssr: '/?items=0', status: '/_/status' }

/**
 * Runs the four parts of the protocol, one after the other; each also fails if `/livez` does not give 200 after it.
 * @throws {NoResponse} if nobody listens there, or when the signal stops the run
 */
export async function checkProtocol(options: ProtocolOptions): Promise<ProtocolReport> {
  const { target, role, only = '', runs = 1_500, signal } = options
  const { seed = Math.floor(Math.random() * 4_000) } = options
  const parts: [name: string, title: string, run: () => Promise<Deviations | string[]>][] = [
    ['rfc9112', `${FORMS.length} forms of RFC 9112`, () => checkRfc9112(target, signal)],
    ['limits', 'requests over the limits', () => checkLimits(target, oversizedRequests(PATHS[role]))],
    ['desync', `${ATTACK_COUNT} requests that hide another one`, () => checkDesync(target, signal)],
    ['fuzz', `${runs} random requests`, () => fuzz(target, { seed, requests: runs, signal })],
  ]
  const report: ProtocolReport = { seed, parts: [] }
  for (const [name, title, run] of parts.filter(([candidate]) => candidate.includes(only))) {
    const found = await run()
    const { findings, notes } = Array.isArray(found) ? { findings: found, notes: [] } : found
    const silence = findings.length === 0 ? await findSilence(target) : []
    report.parts.push({ name, title, findings: [...findings, ...silence], notes })
  }
  return report
}

/** The report for a reader, at 80 columns: what was found and noted, and a closing line with the counts. */
export function formatProtocol({ parts, seed }: ProtocolReport): string {
  const failed = parts.filter(({ findings }) => findings.length > 0)
  const lines = parts.flatMap(({ name, title, findings, notes }) => [
    `${findings.length > 0 ? 'x' : '-'} ${name}: ${title}`,
    ...[...findings, ...notes].map((sentence) => indented(sentence, '    ')),
  ])
  const counts = `${parts.length - failed.length} parts passed, ${failed.length} failed`
  return [...lines, '', failed.length > 0 ? `${counts} (seed ${seed})` : counts].join('\n')
}
