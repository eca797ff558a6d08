import type { Target } from '@startgrid/grid/launcher.ts'
import type { Fault } from '../fault.ts'
import { findDeath } from '../subject/alive.ts'
import { frontOf } from '../subject/front.ts'
import { countRead, findUnsent, LEDGER, LOGGED } from '../subject/ledger.ts'
import { converse, describeDialogue, idOf } from '../wire/dialogue.ts'
import { FORMS } from '../wire/forms.ts'
import { findMalformed } from '../wire/judge.ts'
import { message } from '../wire/message.ts'
import { SMUGGLES, type Smuggle } from '../wire/smuggles.ts'

/** The forms of rfc9112 hide nothing, but are read differently as well. */
const ATTACKS: readonly Smuggle[] = [...SMUGGLES, ...FORMS]

/** App and proxy agree where every request ends, so nobody gets the answer to another one's request. */
export const desync: Fault = {
  name: 'desync',
  title: `${ATTACKS.length} requests that hide another one, through NGINX, each followed by somebody else's request`,
  expected: 'the app reads what NGINX sent and nothing else; each client gets its own answers',
  atOnce: 2,
  async run(subject) {
    const app = await subject.launch({ env: LOGGED })
    const { instance, target } = await frontOf(subject, app, LEDGER)
    const findings: string[] = []
    const open = ATTACKS.entries()
    const work = async (): Promise<void> => {
      for (const [index, attack] of open)
        findings.push(...(await attackOnce(attack, `attack-${index}`, target, subject.signal)))
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    for (const id of await findUnsent(app, instance)) {
      const attack = ATTACKS[Number(/^attack-(\d+)/.exec(id)?.[1])]
      findings.push(
        `The app read a request ${id} that NGINX did not send, after ${attack?.name ?? 'no attack'}.`,
      )
    }
    findings.push(...(await findDeath(app)))
    return { findings, figures: { attacks: ATTACKS.length, read: countRead(app) } }
  },
}

const AT_ONCE = 4

/** Milliseconds for the attacker, who may wait for nothing: a body that does not come. */
const ATTACK_MS = 500
/** And for everyone else. */
const PATIENCE_MS = 10_000

async function attackOnce(
  attack: Smuggle,
  id: string,
  target: Target,
  signal: AbortSignal,
): Promise<string[]> {
  const own = await converse(target, attack.bytes(id, `${id}.hidden`) + message(`${id}.behind`), {
    until: `${id}.behind`,
    patienceMs: ATTACK_MS,
    signal,
  })
  // NGINX takes the upstream connection that was used last.
  const victim = `${id}.victim`
  const others = await converse(target, message(victim), { until: victim, patienceMs: PATIENCE_MS, signal })
  const malformed = findMalformed(own)
  const findings = malformed === undefined ? [] : [`After ${attack.name} (${id}), ${malformed}.`]
  const [answer] = others.answers
  if (others.answers.length !== 1 || answer?.status !== 404 || idOf(answer) !== victim) {
    const got = answer === undefined ? describeDialogue(others) : `${answer.status} to ${idOf(answer)}`
    findings.push(`After ${attack.name} (${id}), the next client's request got ${got}.`)
  }
  return findings
}
