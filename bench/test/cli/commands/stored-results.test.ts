import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Result } from '../../../src/result/result.ts'
import { writeResult } from '../../../src/result/result-file.ts'
import { startCommandLine } from '../../fixtures/command-line.ts'
import { analysed, golden } from '../../fixtures/golden.ts'
import { rateResult } from '../../fixtures/results.ts'

/** `pnpm bench report`, as a person or CI runs them on results that are stored. */

const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-stored-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

function store(name: string, result: Result, file = 'result.json'): string {
  writeResult(join(DIRECTORY, name, file), result)
  return name
}

const { run, stop } = startCommandLine(DIRECTORY)
after(stop)

const a = store('a', rateResult())
const b = store('b', rateResult())
const commands = store('commands', golden('commands'))
const study = store('study', golden('study'), 'nginx-proxy.json')
const { schema: _, ...old } = rateResult()
store('old', { ...old, schema: 1 } as unknown as Result)
const broken = rateResult()
for (const one of broken.conformance.slice(0, 1)) one.differences.push('GET /json: 500, not 200')
const voided = store('voided', analysed(broken))

type Row = [words: string[], code: number, said: RegExp]

/** What is said on standard output with 0 and 1, and on standard error with 2, lines joined. */
function testRows(command: string, rows: readonly Row[]): void {
  for (const [words, expected, said] of rows)
    test(`${[command, ...words].join(' ')}: ${expected}`, async () => {
      const { code, stdout, stderr } = await run(command, ...words)
      assert.equal(code, expected, stderr)
      if (code === 2) assert.equal(stdout, '')
      assert.match((code === 2 ? stderr : stdout).replace(/\n(?! {2}|\n)/g, ' '), said)
    })
}

describe('report', () => {
  testRows('report', [
    [[a], 0, /hello direct: bun leads; GET \/json, 64 connections system/],
    [[voided], 0, /node +void (?! *\d)/],
    [[study], 0, /nginx-proxy, 5 claims: 1 direction holds/],
    [[join(study, 'nginx-proxy.json')], 0, /nginx-proxy, 5 claims: /],
    [[commands], 0, /after handles 35 % \(27–41 %\) fewer requests per second at saturation than before/],
    [[commands, '--comment'], 0, /^\*\*3:\/a 1:\/b\*\*: \*\*slower\*\*\./],
    [['--help'], 0, /^pnpm bench report /],
    [[], 2, /takes one result, not 0/],
  ])

  test('makes the reports again beside the result, or elsewhere, and leaves the result as it was', async () => {
    const stored = readFileSync(join(DIRECTORY, b, 'result.json'), 'utf8')
    assert.equal((await run('report', join(b, 'result.json'), '--output', 'there/deep')).code, 0)
    assert.ok(!existsSync(join(DIRECTORY, b, 'report.md')))
    await run('report', b)
    for (const place of [b, 'there/deep']) {
      assert.match(
        readFileSync(join(DIRECTORY, place, 'report.md'), 'utf8'),
        /^# Bun leads hello, ssr and status\n/,
      )
      assert.match(readFileSync(join(DIRECTORY, place, 'report.html'), 'utf8'), /^<!doctype html>/i)
    }
    assert.equal(readFileSync(join(DIRECTORY, b, 'result.json'), 'utf8'), stored)
    assert.ok(existsSync(join(DIRECTORY, study, 'nginx-proxy.md')))
  })

  test('refuses what is no result, and old results', async () => {
    const missing = await run('report', 'empty')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /cannot be read \(ENOENT\): give the result\.json of a run\.$/m)
    writeFileSync(join(DIRECTORY, 'text.json'), '[')
    assert.match((await run('report', 'text.json')).stderr, /it is not JSON/)
    assert.match((await run('report', 'old')).stderr, /its schema is 1, here it is 7/)
  })
})
