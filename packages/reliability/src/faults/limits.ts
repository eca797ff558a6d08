import { checkLimits, oversizedRequests } from '@startgrid/conformance/protocol/limits.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { LIGHT } from '../clients/clients.ts'
import type { Fault } from '../fault.ts'
import { footprintOf, measurable } from '../subject/footprint.ts'
import { frontOf } from '../subject/front.ts'

/** Rounds of all requests before memory is looked at first, and until it is looked at again. */
const ROUNDS = { short: { warm: 40, flat: 80 }, full: { warm: 200, flat: 1_000 } } as const

/** MB that an app may hold more at the end: less than one round sends, and what a collector may leave for later. */
const MOST_GROWTH_MB = 6

/** More than the contract allows: refused with the right status, and nothing of it stays in memory. */
export const limits: Fault = {
  name: 'limits',
  title: 'body over the limit, header over the limit, 10,000 query parameters',
  expected: '413, 431, 200 or 400; memory flat, directly and behind NGINX',
  atOnce: 4,
  async run(subject) {
    const { app, size, nginx } = subject
    const { warm, flat } = ROUNDS[size]
    const launched = await subject.launch({ env: NEVER_SHED, ...measurable(app) })
    const places = [{ where: 'Directly', target: launched.target }]
    if (app.runtime !== 'nginx' && nginx !== undefined)
      places.push({ where: 'Behind NGINX', target: (await frontOf(subject, launched)).target })
    const oversized = oversizedRequests(LIGHT[app.role])
    const found = new Set<string>()
    const runRounds = async (count: number) => {
      for (let round = 0; round < count; round++)
        for (const { where, target } of places)
          for (const finding of await checkLimits(target, oversized)) found.add(`${where}, ${finding}`)
    }
    await runRounds(warm)
    const before = await footprintOf(app, launched)
    await runRounds(flat)
    const after = await footprintOf(app, launched)
    const grownMb = Number(((after.memory - before.memory) / 2 ** 20).toFixed(1))
    const requests = flat * oversized.length * places.length
    if (grownMb > MOST_GROWTH_MB)
      found.add(`It held ${grownMb} MB more after ${requests} requests over the limits.`)
    const left = (after.files ?? 0) - (before.files ?? 0)
    if (left > oversized.length)
      found.add(`${left} more files and connections are open after ${requests} requests.`)
    return { findings: [...found], figures: { requests, 'grown MB': grownMb } }
  },
}
