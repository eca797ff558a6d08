import { equal, match, ok } from 'node:assert/strict'
import { after, test } from 'node:test'
import { createStudyResult } from '../../../src/experiment/result.ts'
import { plannedStudyMs } from '../../../src/experiment/study.ts'
import { PUBLISHED, STUDIES } from '../../../studies/index.ts'
import { startCommandLine } from '../../fixtures/command-line.ts'

const { run, stop } = startCommandLine(process.cwd())
after(stop)

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
  match(plan.stdout, /^njs-vs-node: 3 launches of every system, about \d+:\d\d/)
  match(plan.stdout, /^ {4}njs, 8 workers \(8 cores\)$/m)
  const refused: [string[], RegExp][] = [
    [['nothing'], /^There is no study 'nothing', only nginx-proxy, cluster, /],
    [[], /^Name a study, or give --all\./],
    [['--all', '--json', 'x.json'], /^--json takes the result of one study: name it\.$/m],
    [['cluster', '--heats', '1'], /^--heats is '1', but must be a whole number from 2 to 100\.$/m],
    [['--resume', '--json', 'x.json'], /^--json takes the result of one study: name it\.$/m],
    [['--fast'], /^Unknown option '--fast'\. pnpm bench study --help lists the options\.$/m],
  ]
  for (const [args, sentence] of refused) {
    const { code, stderr } = await study(...args)
    equal(code, 2, args.join(' '))
    match(stderr, sentence)
  }
})

test('all studies of sources together take less than 50 minutes with --quick, and leave time for what is measured again', () => {
  const options = { profile: 'quick', asPublished: true, heats: undefined, seed: 1 } as const
  const total = PUBLISHED.reduce(
    (sum, one) => sum + plannedStudyMs(one, createStudyResult(one, options, '')),
    0,
  )
  ok(total < 45 * 60_000, `${Math.round(total / 60_000)} minutes`)
})
