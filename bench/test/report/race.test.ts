import { deepEqual, doesNotMatch, equal, match, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { commentOf } from '../../src/report/comment.ts'
import { documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import type { System } from '../../src/result/experiment.ts'
import type { Result } from '../../src/result/result.ts'
import { amongCommands, analysed, golden } from '../fixtures/golden.ts'

/** What a race of commands says in other cases than the stored one, which has a verdict, a twin and a mixture of paths. */

function raced(change: (result: Result) => void = () => {}): Result {
  const result = golden('commands')
  change(result)
  return analysed(result)
}

function runningAt(running: string, system: System | undefined): void {
  Object.assign(system ?? {}, { command: undefined, running })
}

const findingOf = (result: Result) => documentOf(result).finding

test('one alone has figures, and no comparison', () => {
  const document = documentOf(raced((result) => amongCommands(result, ['before'])))
  match(document.finding, /^before handles [\d,]+ \(.*\) requests per second at saturation \(32 connections/)
  match(formatTerminal(document, { columns: 80, color: false }), /^before {2,}[\d,]+ /m)
})

test('of a server on another machine requests per second decide, and the report says what is not known', () => {
  const document = documentOf(
    raced((result) => {
      amongCommands(result, ['before', 'after'])
      runningAt('http://10.0.0.9:3000', result.experiment.systems.after)
      for (const pilot of result.pilots)
        for (const system of pilot.systems) if (system.system === 'after') system.coreUse = null
      for (const slice of result.heats.flatMap(({ slices }) => slices)) {
        slice.disturbance = { ...slice.disturbance, serverForeign: 0.5 }
        if (slice.cell.endsWith(' after')) slice.cpuSeconds = { app: null, proxy: 0, generator: 1 }
      }
    }),
  )
  match(document.finding, /^after handles .* requests per second at saturation/)
  const text = formatTerminal(document, { columns: 80, color: false }).replace(/\s+/g, ' ')
  match(text, /The CPU of after is not known, so requests per second decide\./)
  match(text, /Nobody accounts for after: CPU and memory there are not known/)
  match(text, /Of after, which ran before this race, everything was measured on one launch/)
})

test('of servers that ran already nobody says on which core', () => {
  const document = documentOf(
    raced(({ experiment }) => {
      for (const system of Object.values(experiment.systems)) runningAt('http://127.0.0.1:3000', system)
    }),
  )
  const told = document.sections.flatMap(({ title, notes }) => [title, ...notes]).join(' ')
  doesNotMatch(told, /on core 0/)
  match(told, /Cores: generator on core 1; the servers ran already\./)
})

test('one that responds otherwise under load is void, and the sentence says why', () => {
  const failing = ({ heats }: Result) => {
    for (const slice of heats.flatMap(({ slices }) => slices))
      if (slice.cell.endsWith(' after')) slice.errors = { status: 2 }
  }
  const result = raced(failing)
  match(
    findingOf(result),
    /^after and before were not compared \(32 connections, .*\): after is void \([\d,]+ requests failed beside [\d,]+ responses: [\d,]+ status\)$/,
  )
  const alone = raced((one) => {
    amongCommands(one, ['after'])
    failing(one)
  })
  match(findingOf(alone), /^after is void \([\d,]+ requests failed .* status\)$/)
})

/** With so many starts. */
const withStarts = (count: number, change: (result: Result) => void = () => {}) =>
  raced((result) => {
    result.heats = result.heats.slice(0, count)
    change(result)
  })

const FINDINGS: [name: string, result: Result, finding: RegExp, verdict: string][] = [
  [
    'with two starts there is no verdict, and what would give one is told',
    withStarts(2),
    /^Only 2 starts each: no verdict on after and before; it takes 5 \(/,
    'no verdict: only 2 starts each.',
  ],
  [
    'interrupted after two starts',
    withStarts(2, (result) => Object.assign(result, { finishedAt: null })),
    /; the whole race has 5 \(/,
    'no verdict: only 2 starts each.',
  ],
  [
    'in a time that was too short',
    withStarts(2, (result) => Object.assign(result, { enoughMs: 40_000 })),
    /; --max-time 40s would be enough \(/,
    'no verdict: only 2 starts each.',
  ],
  [
    'a start that does not count is told',
    withStarts(2, ({ heats: [first] }) => {
      if (first !== undefined) first.slices = first.slices.filter(({ cell }) => !cell.endsWith(' after'))
    }),
    /^Only 1 of 2 starts counts: no verdict on after and before; it takes 5 \(/,
    'no verdict: only 1 of 2 starts counts.',
  ],
  [
    'equal ones: how much slower or faster one may be',
    raced((one) => amongCommands(one, ['before', 'before itself'])),
    /^No difference shown: before itself is between [\d.]+ % slower and [\d.]+ % faster than before; [\d.]+ % would be found in 4 of 5 runs \(/,
    'no slowdown shown.',
  ],
  [
    'starts that differ much from each other',
    raced(({ heats }) => {
      for (const [index, { slices }] of heats.entries())
        for (const slice of slices)
          if (slice.cell.endsWith(' after')) slice.requests = Math.round(slice.requests * (index + 0.5))
    }),
    /^No difference shown: the rate of after is [\d.]+ to [\d.]+ times .*too wide to say more/,
    'no slowdown shown.',
  ],
]

for (const [name, result, finding, verdict] of FINDINGS)
  test(name, () => {
    match(findingOf(result), finding)
    equal(commentOf(result).split('  \n')[0], `**3:/a 1:/b**: ${verdict}`)
  })

test('other work that was meant is said first', () => {
  const result = raced(({ pilots }) => {
    for (const pilot of pilots) pilot.difference = 'before and after send different bodies'
  })
  const { finding, summary = [] } = documentOf(result)
  equal(finding, 'They do different work: before and after send different bodies')
  match(summary[0] ?? '', /^after handles /)
})

test('a comment: verdict, both figures, the twin and what would have been caught, without markup of others', () => {
  deepEqual(commentOf(raced()).split('  \n'), [
    '**3:/a 1:/b**: **slower**.',
    'after over before 0.65 (0.59–0.73) by requests at saturation, 1.62 (1.56–1.68) by CPU per request; the former decides.',
    '5 starts each, 1 minute; before against itself 1.02 (0.92–1.13).',
    'A limit of 3.0 % would have caught a slowdown of 16 % in 4 of 5 runs.\n',
  ])
  for (const wrong of [{ ...raced(), analysis: '@everyone' }, { ...raced(), pilots: [] }, {}, null])
    throws(() => commentOf(wrong), {
      name: 'ResultError',
      message: /^It is not the result of a race of commands \(/,
    })
  const hostile = JSON.parse(JSON.stringify(raced()).replaceAll('before', '@a<b>`c`'))
  const comment = commentOf(hostile)
  match(comment, /&#64;a&#60;b&#62;&#96;c&#96; against itself/)
  doesNotMatch(comment, /[@<>`]/)
})
