import { deepEqual, doesNotMatch, equal, match, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '@startgrid/stats/moments.ts'
import { formatHtml } from '../../src/report/html/page.ts'
import { commentOf, documentOf } from '../../src/report/report.ts'
import { formatTerminal } from '../../src/report/terminal.ts'
import { profileFiles } from '../../src/report/why.ts'
import type { System } from '../../src/result/experiment.ts'
import type { Result, Settings } from '../../src/result/result.ts'
import { amongCommands, analysed, golden } from '../fixtures/golden.ts'
import { explainedRace } from '../fixtures/profiles.ts'

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

test('servers with several cores fill their cores', () => {
  const result = raced(({ cells }) => {
    for (const { cores } of cells) cores.given = 2
  })
  const text = formatTerminal(documentOf(result), { columns: 200, color: false })
  match(text, /The servers fill their cores, so/)
})

test('one that responds otherwise under load is void, and the sentence says why', () => {
  const failing = ({ heats }: Result) => {
    for (const slice of heats.flatMap(({ slices }) => slices))
      if (slice.cell.endsWith(' after')) slice.errors = { status: 2 }
  }
  const result = raced(failing)
  const isVoid = 'after is void \\([\\d,]+ of [\\d,]+ requests failed \\([\\d,]+ status\\)\\)$'
  match(findingOf(result), RegExp(`^after and before were not compared \\(32 connections, .*\\): ${isVoid}`))
  const alone = raced((one) => {
    amongCommands(one, ['after'])
    failing(one)
  })
  match(findingOf(alone), RegExp(`^${isVoid}`))
})

/** With so many starts. */
const withStarts = (count: number, change: (result: Result) => void = () => {}) =>
  raced((result) => {
    result.heats = result.heats.slice(0, count)
    change(result)
  })

/** Without `after`: what was its twin is compared. */
const equalOnes = (settings: Partial<Settings>) =>
  raced((one) => {
    amongCommands(one, ['before', 'before itself'])
    Object.assign(one.settings, settings)
  })

const FINDINGS: [name: string, result: Result, finding: RegExp][] = [
  ['two starts', withStarts(2), /^Only 2 starts each: no verdict on after and before; it takes 5 \(/],
  [
    'in a time that was too short',
    withStarts(2, (result) => Object.assign(result, { enoughMs: 40_000 })),
    /; --max-time 40s would be enough \(/,
  ],
  [
    'a start that does not count is told',
    withStarts(2, ({ heats: [first] }) => {
      if (first !== undefined) first.slices = first.slices.filter(({ cell }) => !cell.endsWith(' after'))
    }),
    /^Only 1 of 2 starts counts: no verdict on after and before; it takes 5 \(/,
  ],
  [
    'one that is slower, and when it was known',
    raced(({ settings }) => Object.assign(settings, { looks: [5, 10, 22] })),
    /^after handles 35 % \([\d–]+ %\) fewer .* \(32 connections, .*; stopped after 5 starts, [\d.]+ (?:s|minutes)\)$/,
  ],
  [
    'equal ones, within a wide margin',
    equalOnes({ within: 0.2 }),
    /^before itself is as fast as before, within 20 % \(−[\d.]+ to \+[\d.]+ %; 32 connections, .*; 5 starts, [\d.]+ /,
  ],
  [
    'equal ones: how much slower or faster one may be, and what would do',
    equalOnes({ within: 0.08 }),
    /^Not known after [\d.]+ (?:s|minutes): before itself is between [\d.]+ % slower and [\d.]+ % faster than before; \d+ starts would probably do \(/,
  ],
  [
    'equal ones: in minutes, where there are as many starts as fit',
    equalOnes({ within: 0.08, looks: [5] }),
    /; \d minutes? would probably do \(/,
  ],
  ['what nobody would wait for', equalOnes({ within: 0.01 }), /; more than 100 starts would be needed \(/],
  [
    'starts that differ much from each other',
    raced(({ heats }) => {
      for (const [index, { slices }] of heats.entries())
        for (const slice of slices)
          if (slice.cell.endsWith(' after')) slice.requests = Math.round(slice.requests * (index + 0.5))
    }),
    /^Not known after .*: the rate of after is [\d.]+ to [\d.]+ times that of before; /,
  ],
]

for (const [name, result, finding] of FINDINGS) test(name, () => match(findingOf(result), finding))

test('other work that was meant is said first', () => {
  const result = raced(({ pilots }) => {
    for (const pilot of pilots) pilot.difference = 'before and after send different bodies'
  })
  const { finding, summary = [] } = documentOf(result)
  equal(finding, 'They do different work: before and after send different bodies')
  match(summary[0] ?? '', /^after handles /)
})

test('a comment: the finding, the twin and the chart, without markup of others', () => {
  const shown = (comment: string) =>
    comment.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
  const comment = shown(commentOf(raced()))
  match(
    comment,
    /^\*\*after handles 35 % \(24–44 %\) fewer requests per second at saturation than before \(32 connections, 3:\/a 1:\/b; 5 starts, 50 s\)\*\*\n/,
  )
  match(comment, /^- before itself \(a twin, the noise of this race\): 1\.02 \(0\.90–1\.15\) times before /m)
  match(
    comment,
    /^<pre>\n(?:.*\n)*after over before .*\nreq\/s .* 0\.65 .* 1\.02\nCPU µs .* 1\.62 .* 1\.02\n(?:.*\n)*<\/pre>$/m,
  )
  const wrong = [{ ...raced(), analysis: '@everyone' }, { ...raced(), pilots: [] }, {}, null]
  for (const result of wrong as unknown as Result[])
    throws(() => commentOf(result), {
      name: 'ResultError',
      message: /^It is not the whole result of a race of commands/,
    })
  const evil = '@a<b>`c`|#1 https://a.example www.a.example *x* _y_ - +'
  const hostile = commentOf(JSON.parse(JSON.stringify(raced()).replaceAll('before', evil)))
  match(shown(hostile), /@a<b>`c`\|#1 https:\/\/a\.example www\.a\.example \*x\* _y_ - \+ itself/)
  doesNotMatch(
    hostile.replace(/&#\d+;|^\*\*|\*\*$|^- |^<\/?pre>$/gm, ''),
    /[^\p{L}\p{N} \n/,%.]|www\.|:\/\//u,
  )
})

test('a race with --why: the function is in the summary, in the comment, in a table of 80 columns and in a picture', () => {
  const result = explainedRace()
  const document = documentOf(result)
  const [first = ''] = document.summary.filter((one) => / per request are in /.test(one))
  match(first, /^\d+\.\d µs \(\d+\.\d–\d+\.\d\) more per request are in readCookies \(src\/cookies\.js\)/)
  match(first, /\. The difference is \d.* in all\.$/)
  match(commentOf(result), /more per request are in readCookies/)
  const text = formatTerminal(document, { columns: 80, color: false })
  match(text, /^readCookies {2,}src\/cookies\.js +\+\d+\.\d \(\d+\.\d–\d+\.\d\)$/m)
  match(text, /^other threads, no function /m)
  match(text, /Allocated per request, for the garbage collector to free: /)
  const page = formatHtml(document)
  match(
    page,
    /<title>readCookies \(src\/cookies\.js\): \d+\.\d µs .* itself, 0\.\d before; \d+\.\d with what it /,
  )
  match(page, /&lt;b&gt;&amp;&quot;/)
  doesNotMatch(page, /<script|<b>&/)
})

test('profiles for other tools: samples of known nodes, and a call frame of each', () => {
  const files = profileFiles(explainedRace())
  deepEqual([...files.keys()], ['profile-before.cpuprofile', 'profile-after.cpuprofile'])
  for (const text of files.values()) {
    const { nodes, samples, timeDeltas, startTime, endTime } = JSON.parse(text)
    const ids = new Set(nodes.map(({ id }: { id: number }) => id))
    equal(samples.length, timeDeltas.length)
    equal(endTime - startTime, sum(timeDeltas))
    ok(samples.every((one: number) => ids.has(one)))
    ok(nodes.every((one: { children: number[] }) => one.children.every((child) => ids.has(child))))
    equal(nodes.flatMap((one: { children: number[] }) => one.children).length, nodes.length - 1)
    const root = { functionName: '(root)', scriptId: '0', url: '', lineNumber: -1, columnNumber: 0 }
    deepEqual(nodes[0].callFrame, root)
  }
})
