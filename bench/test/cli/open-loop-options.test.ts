import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { helpOf, readOpenLoopOptions } from '../../src/cli/open-loop-options.ts'

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
    assert.equal(readOpenLoopOptions('latency', []).apps.length, 14)
    assert.equal(readOpenLoopOptions('overload', []).apps.length, 14)
    assert.deepEqual(
      readOpenLoopOptions('capacity', ['--only', 'node']).apps.map(({ name }) => name),
      ['node/hello', 'node/ssr', 'node/status'],
    )
    assert.equal(readOpenLoopOptions('capacity', ['--role', 'ssr']).apps.length, 7)
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
    assert.match(refusal('latency', '--p99', '10ms'), /^pnpm bench latency has no --p99\./)
    assert.match(refusal('capacity', '--rate', '10'), /^pnpm bench capacity has no --rate\./)
    assert.match(refusal('overload', '--slices', '3'), /pnpm bench overload --help/)
    assert.match(refusal('capacity', '--p99', '0ms'), /--p99/)
    assert.match(refusal('latency', '--rate', '0'), /--rate/)
    assert.match(refusal('latency', '--launches', '0'), /--launches/)
    assert.match(refusal('latency', '--quick', '--thorough'), /exclude each other/)
  })

  test('are told by --help within 80 columns, only those that there are', () => {
    for (const kind of ['capacity', 'latency', 'overload'] as const) {
      const help = helpOf(kind)
      assert.ok(
        help.split('\n').every((line) => line.length <= 80),
        kind,
      )
      const names = [...help.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name = '']) => name)
      // What goes with a target or a cluster alone is tested above and in location.test.ts.
      const apart = ['help', 'target', 'without', 'context', 'server-node', 'generators']
      for (const name of names.filter((one) => !apart.includes(one))) {
        const words: Record<string, string> = {
          only: 'node',
          role: 'ssr',
          topology: 'nginx',
          p99: '9ms',
          json: 'a',
          output: 'b',
          'max-time': '90s',
        }
        const flag = ['quick', 'thorough', 'docker', 'kubernetes', 'dry-run', 'no-download'].includes(name)
        readOpenLoopOptions(kind, flag ? [`--${name}`] : [`--${name}`, words[name] ?? '5'])
      }
      assert.ok(names.length >= 11)
    }
  })
})
