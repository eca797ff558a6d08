/**
 * `node bench/scripts/generators.ts`: Startgrid's generator against wrk and autocannon, each in turn on one core, with 64 connections to
 * NGINX's `return 200` on another. Many short turns, because a shared machine's speed drifts from second to second.
 * `--open`: how late it sends in an open loop at 20,000 requests per second.
 */

import { parseOptions, UsageError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { LoadError } from '@startgrid/loadgen'
import { compareSamples, takeSample } from '@startgrid/machine/accounts/sample.ts'
import { type Cores, chooseCores } from '@startgrid/machine/cores.ts'
import { claimPort, formatAddress } from '@startgrid/nginx/address.ts'
import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import { type Place, renderMain, renderTemporaryPaths } from '@startgrid/nginx/render.ts'
import { median } from '@startgrid/stats/moments.ts'
import { warm } from '../src/drivers/ceiling.ts'
import { createDriver, createStartgridDriver } from '../src/drivers/create.ts'
import type { Driver, GeneratorAccounts, SlicePlan } from '../src/drivers/driver.ts'
import { isTaken } from '../src/judge/gates/interference.ts'
import { compareRates, type GeneratorName, type Round, rotate, type Turn } from './generator-comparison.ts'

const CONNECTIONS = 64
const OPEN_RATE = 20_000
const OTHERS = ['wrk', 'autocannon'] as const

interface Arena {
  plan: SlicePlan
  rounds: number
  cores: Cores
  server: Instance
}

interface Words {
  rounds: number
  seconds: number
  others: GeneratorName[]
  open: boolean
}

/** @throws {UsageError} */
function readWords(): Words {
  const values = parseOptions(
    process.argv.slice(2),
    {
      rounds: { type: 'string', default: '21' },
      seconds: { type: 'string', default: '1' },
      against: { type: 'string', default: OTHERS.join(',') },
      open: { type: 'boolean', default: false },
    },
    'node bench/scripts/generators.ts',
  )
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
  if (!Number.isInteger(rounds) || rounds < 1) throw new UsageError('--rounds must be a whole number from 1.')
  if (!(seconds >= 0.5 && seconds <= 60)) throw new UsageError('--seconds must be from 0.5 to 60.')
  const others = values.against.split(',').map((word) => {
    const found = OTHERS.find((name) => name === word)
    if (found === undefined)
      throw new UsageError(`--against knows ${OTHERS.join(' and ')}, but not '${word}'.`)
    return found
  })
  return { rounds, seconds, others, open: values.open }
}

async function main({ rounds, seconds, others, open }: Words): Promise<void> {
  const nginx = await findNginx({ download: false })
  if (nginx.kind === 'none') throw new LoadError(nginx.describe())
  const cores = chooseCores(() => {})
  if (cores === null) throw new LoadError('This comparison needs Linux, taskset and two cores.')
  const instance = await startBareNginx(nginx, cores.server)
  try {
    const [target] = instance.addresses
    if (target === undefined) throw new LoadError('NGINX listens nowhere.')
    const plan = { target, path: '/', connections: CONNECTIONS, durationMs: 1000 * seconds }
    const arena = { plan, rounds, cores, server: instance }
    await (open ? offerOpenLoop(arena) : race(arena, others))
  } finally {
    await instance.stop()
  }
}

/** A response as cheap as NGINX can make it: with the production headers of `/ceiling` it is NGINX that limits the rate. */
async function startBareNginx(nginx: Nginx, cpu: number): Promise<Instance> {
  const host = '127.0.0.1'
  const listen = { host, port: await claimPort({ host, port: 0 }) }
  const config = (place: Place) => `${renderMain(place)}
    http {
      ${renderTemporaryPaths(place.dir)}
      access_log off;
      keepalive_requests 1000000000;
      server { listen ${formatAddress(listen)}; location / { return 200 "Hello World!"; } }
    }`
  try {
    return await startNginx(nginx, { config, listen: [listen], probe: '/', cpus: String(cpu) })
  } catch (error) {
    throw new LoadError(`${oneLine(error)}.`)
  }
}

async function race(arena: Arena, others: readonly GeneratorName[]): Promise<void> {
  const drivers: Driver[] = []
  try {
    for (const name of ['startgrid', ...others] as const) {
      drivers.push(await createDriver(name, { cpu: arena.cores.generator }))
    }
    const names = drivers.map(({ name, version }) => `${name} ${version}`).join(', ')
    console.log(`${names} on core ${arena.cores.generator}, NGINX on core ${arena.cores.server}`)
    const rounds = await takeRounds(arena, drivers)
    for (const other of others) {
      for (const undisturbed of [false, true]) console.log(describe(rounds, other, undisturbed))
    }
  } finally {
    await Promise.all(drivers.map((driver) => driver.stop()))
  }
}

async function takeRounds(arena: Arena, drivers: readonly Driver[]): Promise<Round[]> {
  for (const driver of drivers) await warm(driver, arena.plan)
  const rounds: Round[] = []
  for (let n = 0; n < arena.rounds; n++) {
    const round = new Map<GeneratorName, Turn>()
    for (const driver of rotate(drivers, n)) round.set(driver.name, await takeTurn(arena, driver))
    rounds.push(round)
    const turns = drivers.map(({ name }) => `${name} ${describeTurn(round.get(name))}`)
    console.log(`round ${n + 1}: ${turns.join('  ')}`)
  }
  return rounds
}

async function takeTurn(arena: Arena, driver: Driver): Promise<Turn> {
  const run = () => driver.run(arena.plan)
  const { load, disturbed, serverSeconds } = await observe(arena, driver, run, ({ generator }) => generator)
  const { rate, seconds, errors } = load
  if (Object.keys(errors).length > 0) {
    throw new LoadError(`${driver.name} met errors: ${JSON.stringify(errors)}.`)
  }
  return { rate, disturbed, serverUse: serverSeconds && serverSeconds / seconds }
}

/** @param own the accounts that a load has of its own generator */
async function observe<Load>(
  { server, cores }: Arena,
  driver: Driver,
  work: () => Promise<Load>,
  own: (load: Load) => GeneratorAccounts | undefined = () => undefined,
): Promise<{ load: Load; disturbed: boolean; serverSeconds: number | null }> {
  const subject = { app: server.pids(), proxy: [], generator: driver.pids(), cores }
  const before = takeSample(subject)
  const load = await work()
  const { cpuSeconds, disturbance } = compareSamples(before, takeSample(subject), own(load))
  return { load, disturbed: isTaken(disturbance), serverSeconds: cpuSeconds.app }
}

function describeTurn(turn: Turn | undefined): string {
  return turn === undefined ? '' : `${turn.rate.toFixed(0)}/s${turn.disturbed ? ' (disturbed)' : ''}`
}

function describe(rounds: readonly Round[], other: GeneratorName, undisturbed: boolean): string {
  const comparison = compareRates(rounds, other, { undisturbed })
  if (comparison === undefined) return `startgrid over ${other}: others disturbed every round`
  const { rounds: count, ownRate, otherRate, ratio, serverUse } = comparison
  const which = undisturbed ? `${count} undisturbed` : `all ${count}`
  return (
    `startgrid over ${other}, ${which} rounds: median of the ratios ${ratio.toFixed(3)} ` +
    `(medians ${ownRate.toFixed(0)}/s and ${otherRate.toFixed(0)}/s); ` +
    `NGINX under startgrid used ${serverUse === null ? 'an unknown part' : `${(100 * serverUse).toFixed(0)} %`} of its core`
  )
}

async function offerOpenLoop(arena: Arena): Promise<void> {
  const driver = await createStartgridDriver({ cpu: arena.cores.generator })
  const p99: number[] = []
  try {
    await warm(driver, arena.plan)
    for (let n = 0; n < arena.rounds; n++) {
      const offer = () => driver.offer({ ...arena.plan, rate: OPEN_RATE, seed: n + 1 })
      const { load, disturbed } = await observe(arena, driver, offer)
      const { openLoop, lag } = load
      if (openLoop === null || lag === null) throw new LoadError('The generator offered no open loop.')
      if (!disturbed) p99.push(lag.p99)
      console.log(
        `offered ${openLoop.offered.toFixed(0)}/s, achieved ${openLoop.achieved.toFixed(0)}/s, schedule lag ` +
          `p50 ${lag.p50.toFixed(3)}, p99 ${lag.p99.toFixed(3)}, p99.9 ${lag.p999.toFixed(3)} ms${disturbed ? ' (disturbed)' : ''}`,
      )
    }
  } finally {
    await driver.stop()
  }
  const found = p99.length > 0 ? `median of p99 ${median(p99).toFixed(3)} ms` : 'others disturbed every turn'
  console.log(`schedule lag of ${p99.length} undisturbed turns: ${found}`)
}

try {
  await main(readWords())
} catch (error) {
  if (!(error instanceof LoadError || error instanceof UsageError)) throw error
  console.error(`${oneLine(error)}.`)
  process.exitCode = 1
}
