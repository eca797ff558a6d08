import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FAULTS } from '../src/matrix.ts'

const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

function cli(...args: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

test('words that are not understood: exit code 2 and what is right', () => {
  for (const [args, said] of [
    [['nobody'], /^There is no app 'nobody'\. Frameworks: .+\.\n$/],
    [['--fault', 'rain'], /^There is no fault 'rain', only sigterm, .+\.\n$/],
    [['--fast'], /^Unknown option '--fast'\. pnpm reliability --help lists the options\.\n$/],
    [['--full'], /^pnpm reliability --full is gone: .+\.\n$/],
  ] as const) {
    const { code, out, err } = cli(...args)
    assert.deepEqual([code, out], [2, ''])
    assert.match(err, said)
  }
})

test('help names every fault, within 80 columns', () => {
  const { code, out } = cli('--help')
  assert.equal(code, 0)
  for (const { name } of FAULTS) assert.match(out, new RegExp(`\\b${name}\\b`))
  assert.ok(out.split('\n').every((line) => line.length <= 80))
})
