import { createInterface } from 'node:readline'
import { clearUp, type Guarded } from './guard.ts'

/** The program of a `Guard`: reads what to guard from its standard input, and clears up when that ends. */

const [run = ''] = process.argv.slice(2)
const guarded = new Map<string, Guarded>()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
for await (const line of createInterface(process.stdin)) {
  const one = line.slice(1)
  if (line.startsWith('+')) guarded.set(one, JSON.parse(one) as Guarded)
  else guarded.delete(one)
}
await clearUp(run, [...guarded.values()])
