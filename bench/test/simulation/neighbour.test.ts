import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseHabits, scheduleOf } from '../../simulation/neighbour.ts'

const PROGRAM = fileURLToPath(new URL('../../simulation/neighbour.ts', import.meta.url))
const run = promisify(execFile)

/** Only stops a test that hangs. */
const LIMIT = { timeout: 120_000 }

test('a duty becomes a pause, and two states are exponential', () => {
  const habits = parseHabits(['--burst', '0.3', '--duty', '0.75', '--core', '1'])
  assert.ok(Math.abs((habits?.pause ?? 0) - 0.1) < 1e-12, `${habits?.pause}`)
  assert.equal(habits?.core, 1)
  const two = parseHabits(['--two-state'])
  assert.deepEqual([two?.burst, two?.pause, two?.random, two?.core], [1.65, 0.55, true, null])
})

test('work and rest take turns and add up to the time', () => {
  const habits = { burst: 0.3, pause: 0.1, random: false, seed: 1, seconds: 1 }
  const steps = [...scheduleOf(habits)]
  assert.deepEqual(
    steps.map(({ work }) => work),
    [true, false, true, false, true],
  )
  const total = steps.reduce((sum, { seconds }) => sum + seconds, 0)
  assert.ok(Math.abs(total - 1) < 1e-12, `${total}`)
})

test('random lengths have the means that were asked for, and repeat by their seed', () => {
  const habits = { burst: 1.65, pause: 0.55, random: true, seed: 7, seconds: 4000 }
  const steps = [...scheduleOf(habits)]
  const worked = steps.reduce((sum, { work, seconds }) => sum + (work ? seconds : 0), 0)
  assert.ok(Math.abs(worked / 4000 - 0.75) < 0.05, `${worked / 4000}`)
  assert.deepEqual([...scheduleOf(habits)], steps)
})

for (const [wrong, what] of [
  [['--burst', '0'], /--burst takes a number/],
  [['--duty', '1'], /--duty takes a number/],
  [['--seconds', '601'], /--seconds takes a number from 0.001 to 600/],
  [['--core', '0.5'], /--core takes a whole number/],
  [['--pause', '1', '--duty', '0.5'], /exclude each other/],
  [['--two-state', '--burst', '1'], /--two-state/],
  [['--forever'], /--forever/],
] as const)
  test(`${wrong.join(' ')} is refused with a sentence`, () => {
    assert.throws(() => parseHabits(wrong), what)
  })

test('it says what it does, and ends by itself', LIMIT, async () => {
  const { stdout } = await run(process.execPath, [
    PROGRAM,
    '--seconds',
    '0.2',
    '--burst',
    '10',
    '--pause',
    '30',
  ])
  assert.match(stdout, /^Takes any core for 0\.2 s, 25 % of the time\.$/m)
})

test('SIGINT ends it in the middle of a burst', LIMIT, async () => {
  const child = spawn(process.execPath, [PROGRAM, '--seconds', '600', '--burst', '600'])
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const [, by] = await once(child, 'exit')
  assert.equal(by, 'SIGINT')
})

test('it ends with its parent', LIMIT, async () => {
  const program = `
    const { spawn } = await import('node:child_process')
    const options = { stdio: ['ignore', 'pipe', 'inherit'] }
    const child = spawn(process.execPath, [process.argv[1], '--seconds', '60', '--burst', '60'], options)
    child.stdout.once('data', (text) => {
      process.stdout.write(text)
      process.exit()
    })`
  // Standard error closes when the last process that holds it has ended: otherwise this waits.
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program, PROGRAM])
  assert.match(stdout, /^Takes any core/)
})
