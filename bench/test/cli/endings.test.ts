import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Result } from '../../src/result/result.ts'
import { readResult } from '../../src/result/result-file.ts'
import {
  assertNothingLeft,
  interrupt,
  newPlace,
  processesOf,
  type Run,
  SHORT,
  saying,
  start,
  startInTerminal,
  whyNoScript,
} from '../fixtures/bench-run.ts'

/** However a run ends, what it has measured is reported, and nothing of it is left: no process, no worktree, no directory. */

const skip = process.platform !== 'linux' && 'only Linux has /proc, where processes are looked for'

const NODE = ['--role', 'status', '--topology', 'direct', ...SHORT]

/** At least one heat, and its report. */
function assertReported(place: string): Result {
  const result = readResult(join(place, 'out/result.json'))
  // What fails is not measured again, so that the run would have ended by itself.
  const failed = [
    ...result.conformance.flatMap(({ differences }) => differences),
    ...result.heats.flatMap(({ failures }) => failures),
  ]
  assert.deepEqual(failed, [])
  assert.equal(result.finishedAt, null)
  assert.ok(result.heats.length >= 1 && result.heats.length < 100, `${result.heats.length} heats`)
  assert.match(readFileSync(join(place, 'out/report.md'), 'utf8'), /^> - Interrupted: not everything/m)
  assert.match(readFileSync(join(place, 'out/report.html'), 'utf8'), /<\/html>\n$/)
  return result
}

test('without NGINX its cells are skipped; Ctrl-C keeps what was measured', async () => {
  const env = { STARTGRID_NGINX: '/no/such/nginx' }
  const run = start(['--only', 'node,njs', '--role', 'status', ...SHORT, '--heats', '100'], { env })
  const { place, stderr } = run
  await saying(run, 'heat 2 of')
  interrupt(run.child)
  const { code, stdout } = await run.ended
  assert.equal(code, 130, stderr())
  const result = assertReported(place)
  const skipped = result.cells.filter((cell) => cell.twinOf === null && cell.skipped === 'there is no NGINX')
  assert.equal(skipped.map(({ id }) => id).join(), 'node/status nginx,njs/status direct,njs/status nginx')
  assert.ok(result.warnings.some(({ kind }) => kind === 'tools'))
  assert.match(stderr(), /NGINX/)
  const direct = result.analysis?.cells.find(({ cell }) => cell === 'node/status direct')
  assert.ok((direct?.figures.rate?.value ?? 0) > 0, stdout)
  assert.match(stdout, /GET \/_\/status/)
  assert.match(stderr(), /Interrupted: what was measured before/)
  assertNothingLeft(place)
})

/** `script` is that terminal: when it is killed, the kernel hangs up. */
test('a terminal that is lost leaves the report of what was measured', {
  skip: skip || whyNoScript(),
}, async () => {
  const run = startInTerminal(['--only', 'node', ...NODE, '--heats', '100'])
  let isOver = false
  void run.ended.then(() => {
    isOver = true
  })
  while (heatsIn(run.place) < 1 && !isOver) await sleep(50)
  run.child.kill('SIGKILL')
  await run.ended
  while (processesOf(run.place).length > 0) await sleep(50)
  assertReported(run.place)
  assertNothingLeft(run.place)
})

function heatsIn(place: string): number {
  const path = join(place, 'out/result.json')
  return existsSync(path) ? readResult(path).heats.length : 0
}

const LISTEN =
  "require('node:http').createServer((_, response) => response.end('hello')).listen(process.env.PORT, process.env.HOST)"
const DEAF = `process.on('SIGTERM', () => {}); ${LISTEN}`

/** How a race of a commit and its working tree ends. */
interface Way {
  /** The start script. */
  start?: string
  server?: string
  end(run: Run): Promise<unknown>
  /** Exit code, or the signal. */
  ends: number | string
}

const after =
  (text: string, signal: NodeJS.Signals, ms = 0) =>
  async (run: Run) => {
    await saying(run, text)
    await sleep(ms)
    run.child.kill(signal)
  }

const WAYS: Readonly<Record<string, Way>> = {
  'SIGTERM in the first heat': { end: after('heat 1 of', 'SIGTERM'), ends: 143 },
  'SIGKILL, and servers in sessions of their own': {
    start: 'setsid node server.js & exit 0',
    end: after('heat 1 of', 'SIGKILL'),
    ends: 'SIGKILL',
  },
  'full: SIGINT twice, and servers that ignore SIGTERM': {
    server: DEAF,
    // In the pilot: later, the run knows that they ignore it, and waits for 100 ms only.
    end: async (run) => {
      await after('comparing responses', 'SIGINT')(run)
      await after('once more ends at once', 'SIGINT', 600)(run)
    },
    ends: 130,
  },
  'full: a reader that closes the pipe': {
    end: async (run) => {
      await saying(run, 'heat 2 of')
      run.child.stdout.destroy()
    },
    ends: 0,
  },
  'full: reports that cannot be written': {
    end: async (run) => {
      await saying(run, 'heat 2 of')
      rmSync(join(run.place, 'out'), { recursive: true, force: true })
      writeFileSync(join(run.place, 'out'), 'a file')
    },
    ends: 1,
  },
}

for (const [name, { end, ends, ...repository }] of Object.entries(WAYS))
  test(`${name}: nothing is left of a race`, { skip, timeout: 300_000 }, async () => {
    const place = newPlace()
    const cwd = makeRepository(place, repository)
    const words = ['race', '--git', 'HEAD', '--heats', '3', '--json', '-', '--output', join(place, 'out')]
    const run = start(words, { place, cwd })
    await end(run)
    const { code, signal, stdout, stderr } = await run.ended
    assert.equal(signal ?? code, ends, stderr)
    // After `kill -9` the guard does it, which takes a moment.
    while (processesOf(place).length > 0) await sleep(50)
    assertNothingLeft(place)
    const worktrees = execFileSync('git', ['worktree', 'list'], { cwd, encoding: 'utf8' })
    assert.equal(worktrees.trim().split('\n').length, 1, worktrees)
    if (ends === 143) {
      assert.deepEqual(JSON.parse(stdout), readResult(join(place, 'out/result.json')))
      assert.match(stdout, /HEAD and working tree are the same: what differs is the noise of this race\./)
    }
    if (ends === 0 || ends === 143) assert.ok(existsSync(join(place, 'out/report.md')))
  })

function makeRepository(place: string, { server = LISTEN, start = 'node server.js' }: Partial<Way>): string {
  const directory = join(place, 'repository')
  mkdirSync(directory)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: directory })
  const manifest = { name: 'a', version: '1.0.0', scripts: { start } }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(directory, 'server.js'), server)
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'one')
  return directory
}
