import assert from 'node:assert/strict'
import { test } from 'node:test'
import { near } from '../../../packages/stats/test/near.ts'
import { judgeOverhead } from '../../src/judge/overhead.ts'
import { frameworkGroup, nginxGroup } from '../../src/measure/overhead.ts'
import type { Cell, Slice } from '../../src/model/result.ts'
import { heatOf, sliceOf } from './analysis/laboratory.ts'

/** Passes whose speed differs by a factor: the noise of a shared machine. */
const SPEEDS = [1, 1.6, 1.1, 1.5]

/** @param costs CPU seconds of app and proxy per request, by cell */
function heat(number: number, costs: ReadonlyMap<Cell, [app: number, proxy: number | null]>) {
  const slices = SPEEDS.flatMap((speed, index) =>
    [...costs].map(([{ id }, [app, proxy]]): Slice => {
      const cpuSeconds = {
        app: 100 * app * speed,
        proxy: proxy === null ? null : 100 * proxy * speed,
        generator: 0.1,
      }
      return { ...sliceOf(id, 100, { cpuSeconds }), pass: index + 1 }
    }),
  )
  return heatOf(number, slices, { race: [...costs.keys()][0]?.race ?? '' })
}

const cellsOf = ({ ways }: ReturnType<typeof frameworkGroup>) => ways.map(({ cell }) => cell)

test('costs and ratios are free of the speed of the passes', () => {
  const cells = cellsOf(frameworkGroup('fastify'))
  const costs = new Map(cells.map((cell, index) => [cell, [1e-5 * (index + 1), null] as [number, null]]))
  const heats = [heat(1, costs), heat(2, costs)]
  const { groups, failures } = judgeOverhead([{ name: 'fastify', cells, heats }])
  assert.deepEqual(failures, [])
  near(groups[0]?.ratio('bare', 'app')?.value, 1 / 3)
  near(groups[0]?.ratio('headers', 'logged')?.value, 2 / 4)
  assert.equal(groups[0]?.ratio('bare', 'elsewhere'), undefined)
})

test('behind NGINX, a cost is that of app and proxy, and the part of NGINX is known', () => {
  const cells = cellsOf(nginxGroup())
  const costs = new Map(
    cells.map((cell) => [cell, [1e-5, cell.topology === 'direct' ? 0 : 3e-5] as [number, number]]),
  )
  const { groups } = judgeOverhead([{ name: 'nginx', cells, heats: [heat(1, costs), heat(2, costs)] }])
  near(groups[0]?.ratio('direct', 'ours')?.value, 1 / 4)
  near((groups[0]?.costs.ours?.proxy ?? 0) / (groups[0]?.costs.ours?.value ?? 0), 3 / 4, 0.3)
  assert.equal(groups[0]?.costs.direct?.proxy, null)
})

test('a wrong response and a program that did not start are told', () => {
  const cells = cellsOf(frameworkGroup('node'))
  const slices = cells.map(({ id }) => sliceOf(id, 100, id === 'app' ? { errors: { body: 3 } } : {}))
  const failures = [{ cell: 'bare', reason: 'it ended' }]
  const judged = judgeOverhead([
    { name: 'node', cells, heats: [heatOf(1, slices, { race: 'node', failures })] },
  ])
  assert.deepEqual(judged.failures, [
    'node, bare, heat 1: it ended.',
    'node, app, heat 1: wrong responses, {"body":3}.',
  ])
})
