import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The recipe `cluster.ts`, which is the same for all frameworks on Node. */

const APPS = fileURLToPath(new URL('../../../apps/', import.meta.url))

function run(env: NodeJS.ProcessEnv) {
  return spawn(process.execPath, ['recipes/cluster.ts'], {
    cwd: `${APPS}node`,
    env: { ...process.env, ...env },
  })
}

test('all frameworks on Node have the same one', () => {
  const texts = globSync('*/recipes/cluster.ts', { cwd: APPS }).map((file) =>
    readFileSync(APPS + file, 'utf8'),
  )
  deepEqual([texts.length, new Set(texts).size], [6, 1])
})

test('it replaces a worker that dies, and stops with 0', async () => {
  const primary = run({ PORT: '0' })
  const workers: { pid: number; address: string }[] = []
  primary.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter(Boolean)) {
      const { msg, pid, address } = JSON.parse(line)
      if (msg === 'listening') workers.push({ pid, address })
    }
  })
  const untilThereAre = async (count: number) => {
    while (workers.length < count) await once(primary.stdout, 'data')
  }
  await untilThereAre(availableParallelism())
  const { pid = 0, address } = workers[0] ?? {}
  process.kill(pid, 'SIGKILL')
  await untilThereAre(availableParallelism() + 1)
  equal(await (await fetch(`${address}/`)).text(), 'Hello World!')
  primary.kill('SIGTERM')
  deepEqual(await once(primary, 'exit'), [0, null])
})

test('a setting that is not valid is said, and ends it with 1', async () => {
  const primary = run({ PORT: 'x' })
  let said = ''
  primary.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  deepEqual(await once(primary, 'close'), [1, null])
  match(said, /^PORT is not valid/)
})
