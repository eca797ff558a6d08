import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { readCompareOptions } from '../../../src/cli/commands/compare.ts'
import { createStudyResult } from '../../../src/experiment/result.ts'
import { deriveWarnings } from '../../../src/judge/derive-warnings.ts'
import type { Result } from '../../../src/model/result.ts'
import { writeResult } from '../../../src/model/result-file.ts'
import { STUDIES } from '../../../studies/index.ts'
import { startCommandLine } from '../../fixtures/command-line.ts'
import { latencyResult, rateResult, targetResult } from '../../fixtures/results.ts'
import { twoRuns } from '../../fixtures/two-runs.ts'

/** `pnpm bench compare` and `pnpm bench report`, as a person or CI runs them on results that are stored. */

const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-stored-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

function store(name: string, result: Result): string {
  const path = join(DIRECTORY, name)
  writeResult(join(path, 'result.json'), result)
  return path
}

const { run, stop } = startCommandLine(DIRECTORY)
after(stop)

const [before, same] = twoRuns()
const [, slower] = twoRuns({ factorOf: ({ title }) => (title === 'koa' ? 0.75 : 1) })
const a = store('a', before)
const b = store('b', same)
const slow = store('slow', slower)
const other = store('other', { ...same, machine: { ...same.machine, cpu: 'Other 5' }, seed: 8 })
const latency = store('latency', latencyResult())
const containers = store('containers', { ...same, mode: 'docker' })
const target = store('target', targetResult())

describe('compare', () => {
  test('takes directories and files, and prints a comparison', async () => {
    const { code, stdout } = await run('compare', a, join(b, 'result.json'))
    assert.equal(code, 0)
    assert.match(stdout, /^No difference shown in 14 of 14 cells\.$/m)
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
  })

  test('exits with 1 for a regression only if it was asked for one', async () => {
    assert.equal((await run('compare', a, slow)).code, 0)
    const { code, stdout } = await run('compare', a, slow, '--fail-on-regression', '5%')
    assert.equal(code, 1)
    assert.match(stdout, /^! Regression: koa\/hello direct needs 3\d % more/m)
    assert.equal((await run('compare', a, b, '--fail-on-regression', '5%')).code, 0)
  })

  test('refuses unlike results in sentences, unless told', async () => {
    const { code, stdout, stderr } = await run('compare', a, other)
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(
      stderr,
      'The CPU differs: Example 3000 in A, Other 5 in B.\nMeasure alike, or compare all the same with --force.\n',
    )
    const forced = await run('compare', a, other, '--force')
    assert.equal(forced.code, 0)
    assert.match(forced.stdout, /^! The CPU differs/m)
  })

  test('refuses unlike modes, whatever is told', async () => {
    const { code, stdout, stderr } = await run('compare', a, containers, '--force')
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(
      stderr.replaceAll('\n', ' '),
      'A is of native processes, B of containers: figures of unlike modes are never compared. Measure both in one mode. ',
    )
    assert.match(
      (await run('compare', target, a)).stderr,
      /^A is of http:\/\/10\.0\.0\.9:3000, which already ran, B of native/,
    )
  })

  test('names the mode first, and of servers that already ran says what two launches cannot tell', async () => {
    assert.match(
      (await run('compare', containers, containers)).stdout,
      /^Comparison of containers, by CPU per request\n/,
    )
    const { code, stdout } = await run('compare', target, target)
    assert.equal(code, 0)
    assert.match(stdout, /^Comparison of servers that already ran, by req\/s\n/)
    assert.match(stdout, /^- Each run met one launch: /m)
    const gate = await run('compare', target, target, '--fail-on-regression', '5%')
    assert.equal(gate.code, 2)
    assert.match(gate.stderr, /^Each run met one launch .* leave\sout\s--fail-on-regression/s)
  })

  test('refuses a file that is not a race, or not a result', async () => {
    const wrong = await run('compare', a, latency, '--force')
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /^B is of kind latency: only races/)
    const missing = await run('compare', a, 'nothing')
    assert.equal(missing.code, 2)
    assert.match(missing.stderr, /nothing cannot be read \(ENOENT\)/)
  })

  test('compares by the metric that is asked for, for people and programs', async () => {
    assert.match(
      (await run('compare', a, b, '--metric', 'rate')).stdout,
      /^Comparison of native processes, by req\/s\n/,
    )
    assert.match(
      (await run('compare', a, b, '--markdown')).stdout,
      /^# No difference shown in 14 of 14 cells\n\nComparison of native processes, by CPU per request\.\n/,
    )
    const file = join(DIRECTORY, 'comparison.json')
    assert.equal((await run('compare', a, slow, '--json', file, '--fail-on-regression', '5%')).code, 1)
    const written = JSON.parse(readFileSync(file, 'utf8'))
    assert.deepEqual([written.metric, written.regressions.length], ['cpu', 2])
    assert.deepEqual(
      JSON.parse((await run('compare', a, slow, '--json', '-', '--fail-on-regression', '5%')).stdout),
      written,
    )
  })

  test('says what it does not understand', async () => {
    const cases: [string[], RegExp][] = [
      [['a'], /^pnpm bench compare takes 2 results, not 1\./],
      [['a', 'b', 'c'], /takes 2 results, not 3\./],
      [['a', 'b', '--metric', 'speed'], /^There is no metric 'speed', only rate and cpu\.$/],
      [['a', 'b', '--fail-on-regression', '5'], /^--fail-on-regression is '5', but must be a percentage/],
      [['a', 'b', '--fast'], /^Unknown option '--fast'\. pnpm bench compare --help lists the options\.$/],
    ]
    for (const [args, message] of cases)
      assert.throws(
        () => readCompareOptions(args, 'pnpm bench'),
        (error) => error instanceof UsageError && message.test(error.message),
      )
    assert.equal((await run('compare', a)).code, 2)
  })
})

describe('report', () => {
  test('makes the reports again beside the result, and leaves the result as it was', async () => {
    const path = store('again', rateResult())
    const stored = readFileSync(join(path, 'result.json'), 'utf8')
    const { code, stdout } = await run('report', path)
    assert.equal(code, 0)
    assert.match(stdout, /^hello direct: GET \/json, 64 connections, ranked by req\/s$/m)
    assert.match(
      readFileSync(join(path, 'report.md'), 'utf8'),
      /^# Bun leads hello, ssr and status\n\nRace of native processes, 2026-11-20 10:00 UTC, /,
    )
    assert.match(readFileSync(join(path, 'report.html'), 'utf8'), /^<!doctype html>/i)
    assert.equal(readFileSync(join(path, 'result.json'), 'utf8'), stored)
  })

  test('writes elsewhere if told', async () => {
    const path = store('elsewhere', rateResult())
    assert.equal((await run('report', join(path, 'result.json'), '--output', 'there/deep')).code, 0)
    assert.ok(existsSync(join(DIRECTORY, 'there', 'deep', 'report.html')))
    assert.ok(!existsSync(join(path, 'report.md')))
  })

  test('judges the cells again: figures of voided cells only if asked for', async () => {
    const result = rateResult()
    const [cell] = result.cells
    const conformance = result.conformance.map((one) =>
      one.cell === cell?.id ? { ...one, differences: ['GET /json: 500, not 200'] } : one,
    )
    const path = store('voided', { ...result, conformance, analysis: null })
    assert.match((await run('report', path)).stdout, /^node +void$/m)
    assert.match((await run('report', path, '--keep-voided')).stdout, /^node +void +[\d–]+ +5\d,\d{3}/m)
  })

  test('keeps what was seen while it ran, and says once what follows from the figures', async () => {
    const result = rateResult()
    const warnings = [{ kind: 'busy', share: 0.32 } as const, ...deriveWarnings(result)]
    assert.ok(warnings.length > 1)
    const said = (await run('report', store('warnings', { ...result, warnings }))).stdout.replace(/\s+/g, ' ')
    assert.equal(said.match(/Other programs use 32 %/g)?.length, 1)
    assert.equal(said.match(/Other programs visibly used the cores during \d+ of \d+ slices/g)?.length, 1)
    assert.equal(said.match(/In at least one launch of \d+ cells? others took the cores/g)?.length, 1)
  })

  test('takes the run of a study as well', async () => {
    const [study] = STUDIES
    assert.ok(study)
    const options = { profile: 'quick', asPublished: false, heats: undefined, seed: 1 } as const
    const path = join(DIRECTORY, 'study')
    mkdirSync(path)
    writeResult(join(path, `${study.name}.json`), createStudyResult(study, options, 'pnpm bench study'))
    for (const place of [path, join(path, `${study.name}.json`)]) {
      const { code, stdout, stderr } = await run('report', place)
      assert.equal(code, 0, stderr)
      assert.match(stdout, new RegExp(`^${study.name}, \\d+ claims: `, 'm'))
      assert.match(stderr, new RegExp(`^Report: .*${study.name}\\.html$`, 'm'))
    }
    assert.match(
      readFileSync(join(path, `${study.name}.md`), 'utf8'),
      new RegExp(`^# ${study.name}, \\d+ claims: `),
    )
    assert.match(
      (await run('report', path, '--keep-voided')).stderr,
      /^--keep-voided is for results of the grid/,
    )
  })

  test('refuses a file that is not a result, and old results', async () => {
    mkdirSync(join(DIRECTORY, 'empty'))
    const missing = await run('report', 'empty')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /result\.json cannot be read \(ENOENT\): give the result\.json of a run\.$/m)
    const { schema: _, ...old } = rateResult()
    mkdirSync(join(DIRECTORY, 'old'))
    writeFileSync(join(DIRECTORY, 'old', 'result.json'), JSON.stringify({ ...old, schema: 1 }))
    assert.match((await run('report', 'old')).stderr, /its schema is 1, here it is 5/)
    assert.equal((await run('report')).code, 2)
  })
})

test('help needs no results', async () => {
  for (const command of ['compare', 'report']) {
    const { code, stdout } = await run(command, '--help')
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^pnpm bench ${command} `))
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line)
  }
})
