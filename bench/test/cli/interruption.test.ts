import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sample } from '@startgrid/cli/test-run.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import {
  assertNothingLeft,
  commandLine,
  failuresOf,
  findProcess,
  interrupt,
  processesOf,
  readResult,
  SHORT,
  saying,
  start,
} from '../fixtures/bench-run.ts'
import { testIf } from '../fixtures/test-if.ts'

const linux = process.platform === 'linux'
const skip = !linux && 'needs /proc'

/** Each starts one or two whole runs: a short run of the tests has one of the four. */
const TRIED = sample('interruption', ['resume', 'start', 'second Ctrl-C', 'death'] as const, 1)
const testOne = (name: (typeof TRIED)[number]) => testIf(TRIED.includes(name))

const NODE = ['--role', 'status', '--topology', 'direct', ...SHORT]

testOne('resume')(
  'without NGINX its cells are skipped; Ctrl-C keeps what was measured; --resume goes on with the same plan; so does kill -9',
  async () => {
    const env = { STARTGRID_NGINX: '/no/such/nginx' }
    const run = start(['--only', 'node,njs', '--role', 'status', ...SHORT, '--heats', '100'], env)
    const { place, stderr } = run
    await saying(run, 'heat 3 of')
    interrupt(run.child)
    const { code, stdout } = await run.ended
    assert.equal(code, 130, stderr())
    const before = readResult(join(place, 'out/result.json'))
    assert.deepEqual(
      before.cells.filter(({ twinOf }) => twinOf === null).map(({ id, skipped }) => [id, skipped]),
      [
        ['node/status direct', null],
        ['node/status nginx', 'there is no NGINX'],
        ['njs/status direct', 'there is no NGINX'],
        ['njs/status nginx', 'there is no NGINX'],
      ],
    )
    assert.ok(before.warnings.some(({ kind }) => kind === 'no-nginx'))
    assert.match(stderr(), /NGINX/)
    assert.equal(before.finishedAt, null)
    assert.ok(before.heats.length >= 2 && before.heats.length < 100)
    assert.deepEqual(failuresOf(before), {})
    const direct = before.analysis?.cells.find(({ cell }) => cell === 'node/status direct')
    assert.ok((direct?.rate?.value ?? 0) > 0, stdout)
    assert.match(stdout, /GET \/_\/status/)
    assert.match(stderr(), /Interrupted: what was measured before/)
    assertNothingLeft(place)

    const on = start(['--resume', join(place, 'out')], env)
    await saying(on, `heat ${before.heats.length + 2} of`)
    assert.match(on.stderr(), new RegExp(`^${100 - before.heats.length} heats`, 'm'))
    on.child.kill('SIGKILL')
    await on.ended
    for (let waited = 0; waited < 120_000 && processesOf(on.place).length > 0; waited += 100) await sleep(100)
    assert.deepEqual(processesOf(on.place).map(commandLine), [])
    const after = readResult(join(place, 'out/result.json'))
    assert.equal(after.finishedAt, null)
    assert.deepEqual(after.heats.slice(0, before.heats.length), before.heats)
    assert.ok(after.heats.length > before.heats.length)
    assert.deepEqual(
      after.heats.map(({ heat }) => heat),
      after.heats.map((_, index) => index + 1),
    )
    assert.ok(after.warnings.some(({ kind }) => kind === 'resumed'))
  },
)

testOne('start')('Ctrl-C while apps start stops them as well', async () => {
  const run = start(['--only', 'node,fastify,koa', ...NODE])
  const { place, stderr } = run
  await saying(run, 'heat 1 of')
  interrupt(run.child)
  const { code } = await run.ended
  assert.equal(code, 130, stderr())
  assert.deepEqual(readResult(join(place, 'out/result.json')).heats, [])
  assertNothingLeft(place)
})

testOne('second Ctrl-C')('a second Ctrl-C ends at once', async () => {
  const run = start(['--only', 'node', ...NODE])
  await saying(run, 'heat 1 of')
  // Stopped servers cannot end in good order, so the first Ctrl-C waits for them.
  const server = linux ? await findProcess(run.place, /server\.ts status/) : 0
  if (linux) process.kill(server, 'SIGSTOP')
  run.child.kill('SIGINT')
  await saying(run, 'once more ends at once')
  await sleep(600)
  run.child.kill('SIGINT')
  const { code } = await run.ended.finally(() => linux && process.kill(server, 'SIGKILL'))
  assert.equal(code, 130)
})

testOne('death')('what dies during a run voids its cells, and the rest goes on', { skip }, async () => {
  const nginx = await findNginx({ download: false })
  const long = [...SHORT, '--slice', '500ms', '--warmup', '500ms', '--heats', '2']
  const run = start(['--only', 'node,bun', '--role', 'status', ...long])
  await saying(run, 'heat 1 of') // earlier, apps run for the proof
  const app = await findProcess(run.place, /bun\S* src\/server\.ts/, 'loaded')
  process.kill(app, 'SIGKILL')
  if (nginx.kind !== 'none') process.kill(await findProcess(run.place, /nginx: master/), 'SIGKILL')
  await saying(run, 'heat 2 of')
  await findProcess(run.place, /server\.ts status/, 'loaded')
  process.kill(await findProcess(run.place, /loadgen\/src\/engine\/child\.ts/), 'SIGKILL')
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
