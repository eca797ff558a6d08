import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Result } from '../../src/result/result.ts'
import {
  assertNothingLeft,
  failuresOf,
  findProcess,
  interrupt,
  processesOf,
  readResult,
  SHORT,
  saying,
  start,
  startInTerminal,
  whyNoScript,
} from '../fixtures/bench-run.ts'

const linux = process.platform === 'linux'
const skip = !linux && 'needs /proc'

const NODE = ['--role', 'status', '--topology', 'direct', ...SHORT]

test('without NGINX its cells are skipped; Ctrl-C keeps what was measured', async () => {
  const env = { STARTGRID_NGINX: '/no/such/nginx' }
  const run = start(['--only', 'node,njs', '--role', 'status', ...SHORT, '--heats', '100'], env)
  const { place, stderr } = run
  await saying(run, 'heat 2 of')
  interrupt(run.child)
  const { code, stdout } = await run.ended
  assert.equal(code, 130, stderr())
  const result = assertReported(place)
  assert.deepEqual(
    result.cells.filter(({ twinOf }) => twinOf === null).map(({ id, skipped }) => [id, skipped]),
    [
      ['node/status direct', null],
      ['node/status nginx', 'there is no NGINX'],
      ['njs/status direct', 'there is no NGINX'],
      ['njs/status nginx', 'there is no NGINX'],
    ],
  )
  assert.ok(result.warnings.some(({ kind }) => kind === 'tools'))
  assert.match(stderr(), /NGINX/)
  const direct = result.analysis?.cells.find(({ cell }) => cell === 'node/status direct')
  assert.ok((direct?.figures.rate?.value ?? 0) > 0, stdout)
  assert.match(stdout, /GET \/_\/status/)
  assert.match(stderr(), /Interrupted: what was measured before/)
  assertNothingLeft(place)
})

/** `script` is that terminal: when it is killed, the kernel hangs up. */
test('full: a terminal that is lost leaves the report of what was measured', {
  skip: skip || whyNoScript(),
}, async () => {
  const run = startInTerminal(['--only', 'node', ...NODE, '--heats', '100'])
  while (heatsIn(run.place) < 2) await sleep(50)
  run.child.kill('SIGKILL')
  await run.ended
  while (processesOf(run.place).length > 0) await sleep(50)
  assertReported(run.place)
  assertNothingLeft(run.place)
})

test('after kill -9 nothing is left running, and the report can be made', { skip }, async () => {
  const run = start(['--only', 'node', ...NODE, '--heats', '100'])
  await saying(run, 'heat 2 of')
  run.child.kill('SIGKILL')
  await run.ended
  while (processesOf(run.place).length > 0) await sleep(50)
  assert.ok(!existsSync(join(run.place, 'out/report.html')))
  const { code, stderr } = await start(['report', join(run.place, 'out')]).ended
  assert.equal(code, 0, stderr)
  assertReported(run.place)
})

/** At least one heat, and its report. */
function assertReported(place: string): Result {
  const result = readResult(join(place, 'out/result.json'))
  assert.equal(result.finishedAt, null)
  assert.ok(result.heats.length >= 1 && result.heats.length < 100, `${result.heats.length} heats`)
  assert.deepEqual(failuresOf(result), {})
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /^> - Interrupted: not everything/m)
  assert.match(readFileSync(join(place, 'out/report.html'), 'utf8'), /<\/html>\n$/)
  return result
}

function heatsIn(place: string): number {
  const path = join(place, 'out/result.json')
  return existsSync(path) ? readResult(path).heats.length : 0
}

test('full: Ctrl-C while apps start stops them as well', async () => {
  const run = start(['--only', 'node,fastify,koa', ...NODE])
  const { place, stderr } = run
  await saying(run, 'heat 1 of')
  interrupt(run.child)
  const { code } = await run.ended
  assert.equal(code, 130, stderr())
  assert.deepEqual(readResult(join(place, 'out/result.json')).heats, [])
  assertNothingLeft(place)
})

test('full: what dies during a run voids its cells, and the rest goes on', { skip }, async () => {
  const nginx = await findNginx({ download: false })
  const long = [...SHORT.filter((word) => word !== '--quick'), '--heats', '2']
  const run = start(['--only', 'node,bun', '--role', 'status', ...long])
  await saying(run, 'heat 1 of') // earlier, apps run for the proof
  const app = await findProcess(run.place, /bun\S* src\/server\.ts/, 'loaded')
  process.kill(app, 'SIGKILL')
  if (nginx.kind !== 'none') process.kill(await findProcess(run.place, /nginx: master/), 'SIGKILL')
  await saying(run, 'heat 2 of')
  await findProcess(run.place, /server\.ts status/, 'loaded')
  process.kill(await findProcess(run.place, /loadgen\/src\/child\.ts/), 'SIGKILL')
  const { code, stderr } = await run.ended
  assert.equal(code, 1, stderr)
  assertNothingLeft(run.place)
  const [first, second] = readResult(join(run.place, 'out/result.json')).heats
  const reasons = Object.fromEntries(first?.failures.map(({ cell, reason }) => [cell, reason]) ?? [])
  assert.equal(reasons['bun/status direct'], 'the app was ended by SIGKILL')
  assert.equal(reasons['node/status direct'], undefined)
  if (nginx.kind !== 'none') {
    assert.equal(reasons['node/status nginx'], 'NGINX ended')
    assert.equal(reasons['node/status#2 nginx'], 'NGINX ended')
  }
  const [generator, ...others] = second?.failures ?? []
  assert.deepEqual(others, [])
  assert.match(generator?.reason ?? '', /^no load could be offered: The generator process \d+ has ended/)
})
