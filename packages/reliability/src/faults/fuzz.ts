import { fuzz as fuzzTarget } from '@startgrid/conformance/protocol/fuzz.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import type { Fault } from '../fault.ts'
import { findDeath } from '../subject/alive.ts'
import { frontOf } from '../subject/front.ts'
import { findUnsent, LEDGER, LOGGED } from '../subject/ledger.ts'
import type { Size } from '../subject/subject.ts'

/** How many requests, half of them direct, half through NGINX. */
const REQUESTS: Readonly<Record<Size, number>> = { short: 1_500, full: 100_000 }

/** How long a response may take. A short run shares the machine with other tests; a full one has too many requests to wait. */
const SILENCE_MS: Readonly<Record<Size, number>> = { short: 1_500, full: 300 }

/** Random requests, each on a connection of its own with a sound one behind it. */
export const fuzz: Fault = {
  name: 'fuzz',
  title: '100,000 random requests on raw sockets, direct and behind NGINX',
  expected: 'no crash, no 500, 502 or 504, nothing but HTTP comes back, app and NGINX read the same requests',
  atOnce: 2,
  async run(subject) {
    const { seed, signal } = subject
    const requests = REQUESTS[subject.size] / 2
    const silenceMs = SILENCE_MS[subject.size]
    const restart = async () => (await subject.launch()).target
    const direct = await subject.launch({ env: NEVER_SHED })
    const findings = await fuzzTarget(direct.target, { seed, requests, restart, silenceMs, signal })
    findings.push(...(await findDeath(direct)))
    if (subject.nginx !== undefined) {
      const app = await subject.launch({ env: { ...NEVER_SHED, ...LOGGED } })
      const { instance, target } = await frontOf(subject, app, LEDGER)
      const proxied = await fuzzTarget(target, {
        seed,
        requests,
        first: requests,
        restart,
        silenceMs,
        signal,
      })
      findings.push(...[...proxied, ...(await findDeath(app))].map((finding) => `Behind NGINX: ${finding}`))
      for (const id of await findUnsent(app, instance))
        findings.push(`The app read a request ${id} of seed ${seed} that NGINX did not send.`)
    }
    return { findings, figures: { requests: REQUESTS[subject.size], seed } }
  },
}
