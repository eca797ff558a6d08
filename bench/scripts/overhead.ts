import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { launch, type Target } from '@startgrid/grid/launcher.ts'
import { FRAMEWORKS, findApps } from '@startgrid/grid/matrix.ts'
import { exactly, type LoadGenerator, startGenerator, sumErrors } from '@startgrid/loadgen'
import { canPin } from '@startgrid/machine/cores.ts'
import { median } from '@startgrid/stats/moments.ts'

/**
 * `node bench/scripts/overhead.ts`: what the contract costs. hello's `/json` as it is in production (headers, request ids, guards,
 * logging at `warn`) against a bare hello world of the same framework, by turns on one core.
 */

const RUNS = 5
const BARE = fileURLToPath(new URL('../bare/', import.meta.url))
/** Those that have a bare hello world. */
const BARE_FRAMEWORKS = FRAMEWORKS.filter((name) => existsSync(`${BARE}${name}.ts`))

async function main(frameworks: readonly string[]): Promise<void> {
  const pinned = canPin() && os.availableParallelism() > 1
  const generator = await startGenerator(pinned ? { cpu: os.availableParallelism() - 1 } : {})
  for (const framework of frameworks) {
    const ratios: number[] = []
    const rates: [number, number][] = []
    for (let run = 0; run < RUNS; run++) {
      const bare = await measureBare(framework, generator, pinned)
      const full = await measureFull(framework, generator, pinned)
      rates.push([bare, full])
      ratios.push(full / bare)
    }
    const [bare, full] = [median(rates.map(([rate]) => rate)), median(rates.map(([, rate]) => rate))]
    process.stdout.write(
      `${framework.padEnd(8)} bare ${Math.round(bare)}/s  app ${Math.round(full)}/s  ratio ${median(ratios).toFixed(3)}` +
        `  (${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})\n`,
    )
  }
  await generator.stop()
}

async function measureFull(framework: string, generator: LoadGenerator, pinned: boolean): Promise<number> {
  const [app] = findApps(`${framework}/hello`)
  if (app === undefined) throw new Error(`There is no ${framework}/hello.`)
  const launched = await launch(app, pinned ? { cpu: 0 } : {})
  try {
    return await measure(launched.target, generator)
  } finally {
    await launched.stop()
  }
}

async function measureBare(framework: string, generator: LoadGenerator, pinned: boolean): Promise<number> {
  const port = await freePort()
  const command = [...(pinned ? ['taskset', '-c', '0'] : []), process.execPath, `${BARE}${framework}.ts`]
  const child: ChildProcess = spawn(command[0] ?? '', command.slice(1), {
    env: { ...process.env, NODE_ENV: 'production', PORT: String(port) },
    stdio: 'inherit',
  })
  try {
    await accepts(port)
    return await measure({ host: '127.0.0.1', port }, generator)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

/** Warm after 1.25 s: a Node launch costs 2.6 to 3.8 times its final CPU per request at first. */
async function measure(target: Target, generator: LoadGenerator): Promise<number> {
  const body = exactly('{"hello":"world"}')
  const load = await generator.run({
    target,
    path: '/json',
    connections: 64,
    warmupMs: 1500,
    durationMs: 1500,
    expect: { body },
  })
  if (sumErrors(load.errors) > 0) throw new Error(`Some answers were wrong: ${JSON.stringify(load.errors)}`)
  return load.rate
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

async function accepts(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (connected) return
    await sleep(50)
  }
  throw new Error(`Nothing listens on port ${port} after 5 s.`)
}

await main(process.argv.length > 2 ? process.argv.slice(2) : BARE_FRAMEWORKS)
