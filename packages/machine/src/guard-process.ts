import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Guarded, MARK } from './guard.ts'
import { endProcesses } from './processes.ts'

/** The program of a `Guard`: reads what to guard from its standard input, and clears up when that ends. */

const [run = ''] = process.argv.slice(2)
const guarded = new Map<string, Guarded>()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
for await (const line of createInterface(process.stdin)) {
  const one = line.slice(1)
  if (line.startsWith('+')) guarded.set(one, JSON.parse(one) as Guarded)
  else guarded.delete(one)
}

const left = [...guarded.values()]
const groups = left.flatMap((one) => ('group' in one ? one.group : []))
await endProcesses({ groups, mark: `${MARK}=${run}.` }, 'SIGKILL', 5000)
for (const one of left) {
  if (!('directory' in one)) continue
  rmSync(one.directory, { recursive: true, force: true, maxRetries: 3 })
  if (one.repository !== undefined) execFileSync('git', ['-C', one.repository, 'worktree', 'prune'])
}
