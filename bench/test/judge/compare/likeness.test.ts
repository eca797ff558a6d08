import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findChanges, findUnlikeness, sharedCells } from '../../../src/judge/compare/likeness.ts'
import type { Cell } from '../../../src/model/cell.ts'
import type { RaceResult } from '../../../src/model/result.ts'
import { cellOf, smallRace } from '../../fixtures/small-race.ts'

const race = smallRace()
const base = { ...race, versions: { ...race.versions, packages: { fastify: '5.12.8' } } }

function unlike(change: Partial<RaceResult>): string[] {
  return findUnlikeness(base, { ...base, ...change })
}

test('a result is like itself, and like one with other versions, seed and number of heats', () => {
  assert.deepEqual(unlike({}), [])
  const versions = { ...base.versions, node: '27.0.0', startgrid: 'def5678' }
  assert.deepEqual(
    unlike({ versions, seed: 8, settings: { ...base.settings, heats: 12, profile: 'thorough' } }),
    [],
  )
})

test('each difference in how it was measured is one sentence that names it', () => {
  const { machine, settings } = base
  const cases: [Partial<RaceResult>, string][] = [
    [{ machine: { ...machine, cpu: 'Other 5' } }, 'The CPU differs: Example 3000 in A, Other 5 in B.'],
    [{ machine: { ...machine, cores: 4 } }, 'The number of cores differs: 2 in A, 4 in B.'],
    [
      { machine: { ...machine, os: 'Debian 12' } },
      'The operating system differs: Debian GNU/Linux 13 (trixie) in A, Debian 12 in B.',
    ],
    [
      { machine: { ...machine, kernel: 'Linux 6.13.1 x86_64' } },
      'The kernel differs: Linux 6.12 x86_64 in A, Linux 6.13 x86_64 in B.',
    ],
    [
      { machine: { ...machine, governor: 'performance' } },
      'The CPU frequency governor differs: unknown in A, performance in B.',
    ],
    [{ settings: { ...settings, sliceMs: 500 } }, 'The length of a slice differs: 50 ms in A, 500 ms in B.'],
    [
      { settings: { ...settings, cores: null } },
      'The separation of server and generator differs: own cores in A, no cores in B.',
    ],
  ]
  for (const [change, sentence] of cases) assert.deepEqual(unlike(change), [sentence])
})

test('a patch of the same kernel series is alike', () => {
  assert.deepEqual(unlike({ machine: { ...base.machine, kernel: 'Linux 6.12.48 x86_64' } }), [])
})

function withCells(change: Partial<Cell>): string[] {
  return unlike({ cells: base.cells.map((cell) => ({ ...cell, ...change })) })
}

test('cells that were loaded otherwise are named, some of them', () => {
  assert.deepEqual(withCells({ connections: 32 }), [
    'The number of connections of node/hello nginx, fastify/hello nginx, koa/hello nginx and 2 other cells differs: 64 in A, 32 in B.',
  ])
  assert.match(
    withCells({ workload: 'GET /' })[0] ?? '',
    /^The workload of .* differs: GET \/json in A, GET \/ in B\.$/,
  )
  assert.match(
    withCells({ warmupMs: 3000 })[0] ?? '',
    /^The warm-up of .* differs: 250 ms in A, 3000 ms in B\.$/,
  )
  const [njs] = ['njs (old)', 'qjs'].map((engine) => ({ ...base, cells: [cellOf('njs', { engine })] }))
  const other = { ...base, cells: [cellOf('njs', { engine: 'qjs' })] }
  assert.deepEqual(njs && findUnlikeness(njs, other), [
    'The engine of njs/hello nginx differs: njs (old) in A, qjs in B.',
  ])
})

test('cells that only one has are no unlikeness', () => {
  const fewer = { ...base, cells: base.cells.slice(0, 2) }
  assert.deepEqual(findUnlikeness(base, fewer), [])
  assert.deepEqual(
    sharedCells(base, fewer).map(([{ id }]) => id),
    ['node/hello nginx', 'fastify/hello nginx'],
  )
})

test('of servers that already ran the address is listed, not what this checkout would have started', () => {
  const target = (origin: string, node: string): RaceResult => ({
    ...base,
    mode: 'target',
    target: { origin, absent: [] },
    versions: { ...base.versions, node, packages: { koa: node } },
  })
  assert.deepEqual(findChanges(target('http://10.0.0.9', '26.10.0'), target('http://10.0.0.8', '27.0.0')), [
    'server http://10.0.0.9, then http://10.0.0.8',
    'Node 26.10.0, then 27.0.0',
  ])
})

test('versions that differ are listed, also those that only one has', () => {
  const versions = { ...base.versions, node: '27.0.0', packages: { koa: '3.3.0' } }
  assert.deepEqual(findChanges(base, { ...base, versions, nginx: null }), [
    'Node 26.10.0, then 27.0.0',
    'fastify 5.12.8, then none',
    'NGINX 1.22.1, then none',
    'njs 0.7.9, then none',
    'koa none, then 3.3.0',
  ])
  assert.deepEqual(findChanges(base, base), [])
})
