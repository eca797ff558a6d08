import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { readOpenLoopOptions } from '../../src/cli/options.ts'

function refusal(kind: 'capacity' | 'latency' | 'overload', ...args: string[]): string {
  try {
    readOpenLoopOptions(kind, args)
  } catch (error) {
    assert.ok(error instanceof UsageError)
    return error.message
  }
  return assert.fail(`${args.join(' ')} was accepted`)
}

describe('the words of the open-loop commands', () => {
  test('measure the direct path, capacity hello alone, unless more is asked for', () => {
    const capacity = readOpenLoopOptions('capacity', [])
    assert.deepEqual(capacity.topologies, ['direct'])
    assert.deepEqual([...new Set(capacity.apps.map(({ role }) => role))], ['hello'])
    assert.equal(readOpenLoopOptions('latency', []).apps.length, 2 * FRAMEWORKS.length)
    assert.equal(readOpenLoopOptions('overload', []).apps.length, 2 * FRAMEWORKS.length)
    assert.deepEqual(
      readOpenLoopOptions('capacity', ['--only', 'node']).apps.map(({ name }) => name),
      ['node/hello', 'node/ssr', 'node/status'],
    )
    assert.equal(readOpenLoopOptions('capacity', ['--role', 'ssr']).apps.length, FRAMEWORKS.length)
  })

  test('quick ones are three cells of hello', () => {
    for (const kind of ['capacity', 'latency', 'overload'] as const)
      assert.equal(readOpenLoopOptions(kind, ['--quick']).apps.length, 3)
  })

  test('read the bound, the common rate and the launches', () => {
    assert.equal(readOpenLoopOptions('capacity', []).p99Ms, 50)
    assert.equal(readOpenLoopOptions('capacity', ['--p99', '10ms']).p99Ms, 10)
    assert.equal(readOpenLoopOptions('latency', ['--rate', '2000']).rate, 2000)
    assert.equal(readOpenLoopOptions('latency', ['--rate', '2000']).p99Ms, null)
    const { heats, custom } = readOpenLoopOptions('overload', ['--launches', '9'])
    assert.deepEqual([heats, custom], [9, true])
  })

  test('refuse what the command does not have, in a sentence', () => {
    assert.match(refusal('latency', '--p99', '10ms'), /^Unknown option '--p99'\. pnpm bench latency --help/)
    assert.match(refusal('capacity', '--rate', '10'), /^Unknown option '--rate'\. pnpm bench capacity --help/)
    assert.match(refusal('overload', '--slices', '3'), /pnpm bench overload --help/)
    assert.match(refusal('capacity', '--p99', '0ms'), /--p99/)
    assert.match(refusal('latency', '--rate', '0'), /--rate/)
    assert.match(refusal('latency', '--launches', '0'), /--launches/)
    assert.match(refusal('latency', '--quick', '--thorough'), /exclude each other/)
  })
})
