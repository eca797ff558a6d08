import { ATTACK_COUNT, checkDesync, describeAttack } from '@startgrid/conformance/protocol/desync.ts'
import type { Fault } from '../fault.ts'
import { findDeath } from '../subject/alive.ts'
import { frontOf } from '../subject/front.ts'
import { countRead, findUnsent, LEDGER, LOGGED } from '../subject/ledger.ts'

/** App and proxy agree where every request ends, so no client gets the response to another client's request. */
export const desync: Fault = {
  name: 'desync',
  title: `${ATTACK_COUNT} requests that hide another one, through NGINX, each followed by another client's request`,
  expected: 'the app reads what NGINX sent and nothing else; each client gets its own responses',
  atOnce: 2,
  async run(subject) {
    const app = await subject.launch({ env: LOGGED })
    const { instance, target } = await frontOf(subject, app, LEDGER)
    const findings = await checkDesync(target, subject.signal)
    for (const id of await findUnsent(app, instance))
      findings.push(`The app read a request ${id} that NGINX did not send, after ${describeAttack(id)}.`)
    findings.push(...(await findDeath(app)))
    return { findings, figures: { attacks: ATTACK_COUNT, read: countRead(app) } }
  },
}
