import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findProcesses } from '@startgrid/machine/processes.ts'

/** However a race of two commits ends, nothing of it is left: no process, no worktree, no directory. */

const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))
const skip = process.platform !== 'linux' && 'only Linux has /proc, where processes are looked for'

const LISTEN =
  "require('node:http').createServer((_, response) => response.end('hello')).listen(process.env.PORT, process.env.HOST)"
const DEAF = `process.on('SIGTERM', () => {}); ${LISTEN}`
/** Its parent ends, and it leaves the process group. */
const AWAY =
  "require('node:child_process').spawn('setsid', [process.execPath, 'listen.js'], { detached: true }).unref(); setTimeout(() => {}, 1e9)"

interface Running {
  child: ChildProcess
  /** Where the reports go. */
  output: string
  /** What is written to standard error, until it says this. */
  says(text: string): Promise<void>
  /** A process of the run whose command line holds this; undefined if there is none. */
  find(text: string): number | undefined
}

interface Way {
  server?: string
  manifest?: object
  end(run: Running): Promise<unknown>
  /** Exit code, or the signal; one of them. */
  ends: number | string | readonly number[]
}

const HEAT = 'heat 1 of'
const INSTALLS = { scripts: { start: 'node server.js', preinstall: 'sleep 600' } }

const after =
  (text: string, signal: NodeJS.Signals, ms = 0) =>
  async ({ says, child }: Running) => {
    await says(text)
    await sleep(ms)
    child.kill(signal)
  }

const WAYS: Readonly<Record<string, Way>> = {
  'SIGINT while it measures': { end: after(HEAT, 'SIGINT', 2000), ends: 130 },
  'SIGKILL while it measures': { end: after(HEAT, 'SIGKILL', 2000), ends: 'SIGKILL' },
  'SIGHUP while it warms up': { end: after(HEAT, 'SIGHUP'), ends: 129 },
  'SIGKILL while it compares responses': { end: after('comparing responses', 'SIGKILL'), ends: 'SIGKILL' },
  'SIGTERM while it installs': {
    manifest: INSTALLS,
    end: async (run) => {
      while (run.find('sleep') === undefined) await sleep(20)
      run.child.kill('SIGTERM')
    },
    ends: 143,
  },
  'SIGKILL while it installs': {
    manifest: INSTALLS,
    end: after('installing', 'SIGKILL', 1000),
    ends: 'SIGKILL',
  },
  'SIGINT while it reports': {
    end: async ({ child, output }) => {
      while (child.exitCode === null && heatsIn(output) < 2) await sleep(5)
      child.kill('SIGINT')
    },
    // Where it is over before it hears of it, it ends as usual.
    ends: [130, 0],
  },
  'SIGKILL of the guard, then SIGINT': {
    end: async ({ says, child, find }) => {
      await says(HEAT)
      process.kill(find('guard-process') ?? 0, 'SIGKILL')
      child.kill('SIGINT')
    },
    ends: 130,
  },
  'SIGINT twice, and servers that ignore SIGTERM': {
    server: DEAF,
    // In the pilot: later, the run knows that they ignore it, and waits for 100 ms only.
    end: async (run) => {
      await after('comparing responses', 'SIGINT')(run)
      await after('once more ends at once', 'SIGINT', 600)(run)
    },
    ends: 130,
  },
  'SIGINT, and servers that ignore SIGTERM': { server: DEAF, end: after(HEAT, 'SIGINT'), ends: 130 },
  'SIGKILL, and servers in sessions of their own': {
    server: AWAY,
    end: after(HEAT, 'SIGKILL'),
    ends: 'SIGKILL',
  },
  'reports that cannot be written': {
    end: async ({ says, output }) => {
      await says(HEAT)
      // The directory is made when there is something to store.
      rmSync(output, { recursive: true, force: true })
      writeFileSync(output, 'a file')
    },
    ends: 1,
  },
  'an installer that fails, and leaves something running': {
    manifest: { scripts: { start: 'node server.js', preinstall: 'setsid sleep 600 & exit 3' } },
    end: async () => {},
    ends: 1,
  },
  'a reader that closes the pipe': {
    end: async ({ says, child }) => {
      await says(HEAT)
      child.stdout?.destroy()
    },
    ends: 0,
  },
}

const FEW = ['SIGINT while it measures', 'SIGKILL while it measures']

for (const [name, way] of Object.entries(WAYS))
  test(`${FEW.includes(name) ? '' : 'full: '}${name}: nothing is left`, {
    skip,
    timeout: 300_000,
  }, async () => {
    const place = mkdtempSync(join(tmpdir(), 'startgrid-endings-'))
    const [repository, temporary] = [join(place, 'repository'), join(place, 'tmp')]
    for (const directory of [repository, temporary]) mkdirSync(directory)
    const mark = `RACE_TEST=${randomUUID()}`
    try {
      makeRepository(repository, way)
      const run = start(place, mark)
      const closed = once(run.child, 'close')
      await way.end(run)
      const [code, signal] = await closed
      assert.ok([way.ends].flat().includes(signal ?? code ?? ''), `${signal ?? code}`)
      // After `kill -9` the guard does it, which takes a moment.
      while (findProcesses({ groups: [], mark }).length > 0) await sleep(50)
      const worktrees = execFileSync('git', ['worktree', 'list'], { cwd: repository, encoding: 'utf8' })
      assert.equal(worktrees.trim().split('\n').length, 1, worktrees)
      assert.deepEqual(
        readdirSync(temporary).filter((file) => file.startsWith('startgrid-race-')),
        [],
      )
    } finally {
      for (const pid of findProcesses({ groups: [], mark })) process.kill(pid, 'SIGKILL')
      rmSync(place, { recursive: true, force: true })
    }
  })

function makeRepository(directory: string, { server = LISTEN, manifest }: Way): void {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: directory })
  const json = { name: 'a', version: '1.0.0', scripts: { start: 'node server.js' }, ...manifest }
  writeFileSync(join(directory, 'package.json'), JSON.stringify(json))
  if (manifest !== undefined)
    writeFileSync(
      join(directory, 'package-lock.json'),
      JSON.stringify({
        name: 'a',
        version: '1.0.0',
        lockfileVersion: 3,
        packages: { '': { name: 'a', version: '1.0.0' } },
      }),
    )
  writeFileSync(join(directory, 'server.js'), server)
  writeFileSync(join(directory, 'listen.js'), LISTEN)
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'one')
}

/** `race --git HEAD`, with all that it starts marked in the environment. */
function start(place: string, mark: string): Running {
  const output = join(place, 'out')
  const [name = '', value] = mark.split('=')
  const words = ['race', '--git', 'HEAD', '--heats', '2', '--output', output]
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd: join(place, 'repository'),
    env: {
      ...process.env,
      TMPDIR: join(place, 'tmp'),
      [name]: value,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.resume()
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  return {
    child,
    output,
    says: async (text) => {
      while (!said.includes(text)) {
        assert.equal(child.exitCode ?? child.signalCode, null, said)
        await sleep(20)
      }
    },
    find: (text) => findProcess(mark, text),
  }
}

function findProcess(mark: string, text: string): number | undefined {
  return findProcesses({ groups: [], mark }).find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      return false // it has ended
    }
  })
}

/** Stored so far. */
function heatsIn(output: string): number {
  try {
    return JSON.parse(readFileSync(join(output, 'result.json'), 'utf8')).heats.length
  } catch {
    return 0
  }
}
