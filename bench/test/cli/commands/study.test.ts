import { equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findFinished } from '../../../src/cli/commands/study.ts'
import { createStudyResult } from '../../../src/experiment/result.ts'
import { chooseRaces, plannedMs } from '../../../src/experiment/study.ts'
import { newHeat } from '../../../src/measure/heat.ts'
import type { Result } from '../../../src/result/result.ts'
import { writeResult } from '../../../src/result/result-file.ts'
import { PUBLISHED, STUDIES } from '../../../studies/index.ts'
import { startCommandLine } from '../../fixtures/command-line.ts'

const { run, stop } = startCommandLine(process.cwd())
after(stop)

const HEAT = newHeat({ race: 'any', heat: 1 })

const study = (...args: string[]) => run('study', ...args)

test('--list shows every claim with its published ratio, within 80 columns', async () => {
  const { code, stdout } = await study('--list')
  equal(code, 0)
  match(stdout, /^cluster: one Express against four of them$/m)
  match(stdout, /^ {3}0\.74 {2}Driven by one generator worker, NGINX alone is 0\.74 times/m)
  equal(stdout.match(/^ +\d+\.\d+ {2}/gm)?.length, STUDIES.flatMap(({ claims }) => claims).length)
  for (const line of stdout.split('\n')) ok(line.length <= 80, line)
})

test('--dry-run prints systems and time; words that are not known end with 2 and a sentence', async () => {
  const plan = await study('njs-vs-node', '--quick', '--dry-run')
  match(plan.stdout, /^njs-vs-node: 3 starts of every system, about \d+:\d\d/)
  match(plan.stdout, /; njs, 8 workers \(8 cores\)/)
  const refused: [string[], RegExp][] = [
    [['nothing'], /^There is no study 'nothing', only nginx-proxy, cluster, /],
    [[], /^Name a study, or give --all\./],
    [['--all', '--json', 'x.json'], /^--json takes the result of one study: name it\.$/m],
    [['cluster', '--heats', '1'], /^--heats is '1', but must be a whole number from 2 to 100\.$/m],
    [['--resume'], /^pnpm bench study --resume is gone: /],
    [['--fast'], /^Unknown option '--fast'\. pnpm bench study --help lists the options\.$/m],
  ]
  for (const [args, sentence] of refused) {
    const { code, stderr } = await study(...args)
    equal(code, 2, args.join(' '))
    match(stderr, sentence)
  }
})

test('with --all, what a run of this commit has finished with as much effort is not measured again', () => {
  const results = mkdtempSync(join(tmpdir(), 'startgrid-finished-'))
  const [study = STUDIES[0]] = PUBLISHED
  if (study === undefined) throw new Error('There is no study.')
  const options = { profile: 'quick', heats: undefined, seed: 1 } as const
  const wanted = createStudyResult(study, options, '')
  wanted.versions.startgrid = '1234567'
  const store = (directory: string, change: (result: Result) => void) => {
    const result = structuredClone({ ...wanted, finishedAt: wanted.startedAt, heats: [HEAT] })
    change(result)
    writeResult(join(results, directory, `${study.name}.json`), result)
  }
  try {
    store('2026-11-25', (result) => Object.assign(result, { finishedAt: null }))
    store('2026-11-26', (result) => Object.assign(result.versions, { startgrid: '7654321' }))
    store('2026-11-27', (result) => Object.assign(result.settings, { heats: 8 }))
    writeFileSync(join(results, '2026-11-27', 'other.json'), '{}')
    equal(findFinished(wanted, results), undefined, 'none of these')
    store('2026-11-23', (result) => Object.assign(result, { seed: 5 }))
    store('2026-11-24', (result) => Object.assign(result, { seed: 6 }))
    equal(findFinished(wanted, results)?.seed, 6, 'the newest')
    wanted.versions.startgrid = '1234567-dirty'
    store('2026-11-28', () => {})
    equal(findFinished(wanted, results), undefined, 'nobody knows what a dirty commit was')
  } finally {
    rmSync(results, { recursive: true })
  }
})

test('all studies of sources together take less than 50 minutes with --quick, and leave time for what is measured again', () => {
  const options = { profile: 'quick', heats: undefined, seed: 1 } as const
  const total = PUBLISHED.reduce((sum, study) => {
    const one = chooseRaces(study, false)
    return sum + plannedMs(one, createStudyResult(one, options, ''))
  }, 0)
  ok(total < 45 * 60_000, `${Math.round(total / 60_000)} minutes`)
})
