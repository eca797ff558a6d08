import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'

const LIMIT = { timeout: 180_000 }

/** A git that lists files as ever, but whose `init` does something else. */
function installGit(directory: string, init: string): NodeJS.ProcessEnv {
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\nif [ "$1" = init ]; then ${init}; fi\nexec '${git}' "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)
  return { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`${signal} amid the work: nothing is left, neither files nor processes`, LIMIT, async () => {
    using directory = temporaryDirectory()
    const parent = join(directory.path, 'projects')
    mkdirSync(parent)
    const note = join(directory.path, 'pid')
    const env = installGit(
      directory.path,
      `echo $$ >'${note}.new'; mv '${note}.new' '${note}'; exec sleep 600`,
    )
    const { child, ended } = startEject(['koa/hello', join(parent, 'app'), '--no-lockfile'], { env })
    while (!existsSync(note)) await sleep(10)
    const [staging = ''] = readdirSync(parent)
    match(staging, /^\.app-/) // there was something to be left
    child.kill(signal)
    const { code, stdout, stderr } = await ended
    deepEqual([code, stdout, stderr], [130, '', 'Interrupted: nothing was written.\n'])
    deepEqual(readdirSync(parent), [])
    equal(isAlive(Number(readFileSync(note, 'utf8'))), false)
  })
}

test('a failure amid the work leaves nothing either', LIMIT, async () => {
  using directory = temporaryDirectory()
  const parent = join(directory.path, 'projects')
  mkdirSync(parent)
  const env = installGit(directory.path, 'echo disk full >&2; exit 1')
  const { code, stderr } = await startEject(['koa/hello', join(parent, 'app'), '--no-lockfile'], { env })
    .ended
  equal(code, 1)
  match(stderr, /git init .*: disk full/)
  deepEqual(readdirSync(parent), [])
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
