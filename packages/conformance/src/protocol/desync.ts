import type { Target } from '../http/target.ts'
import { converse, describeDialogue, findMalformed, idOf } from './dialogue.ts'
import { FORMS } from './forms.ts'
import { idBehind, message } from './message.ts'
import { SMUGGLES, type Smuggle } from './smuggles.ts'

/** The forms of RFC 9112 hide nothing, but parsers read them differently as well. */
const ATTACKS: readonly Smuggle[] = [...SMUGGLES, ...FORMS]

export const ATTACK_COUNT = ATTACKS.length

const AT_ONCE = 4

/** Milliseconds for the attacker's response, which may never come, because the body is incomplete. */
const ATTACK_MS = 500
/** Milliseconds for the next client. */
const PATIENCE_MS = 30_000

/**
 * Sends every request that hides another one, followed by the request of another client. If proxy and app disagree about the end of a
 * request, the other client gets the response to the hidden request.
 * @throws {NoResponse} if no server listens there, or when the signal stops it
 */
export async function checkDesync(target: Target, signal?: AbortSignal): Promise<string[]> {
  const findings: string[] = []
  const open = ATTACKS.entries()
  const work = async (): Promise<void> => {
    for (const [index, attack] of open)
      findings.push(...(await attackOnce(attack, `attack-${index}`, target, signal)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return findings
}

/** The attack that a request id belongs to, its own or the hidden one, for a reader. */
export function describeAttack(id: string): string {
  return ATTACKS[Number(/^attack-(\d+)/.exec(id)?.[1])]?.name ?? 'no attack'
}

async function attackOnce(
  attack: Smuggle,
  id: string,
  target: Target,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const own = await converse(target, attack.bytes(id, `${id}.hidden`) + message(idBehind(id)), {
    until: idBehind(id),
    patienceMs: ATTACK_MS,
    signal,
  })
  // NGINX takes the upstream connection that was used last.
  const victim = `${id}.victim`
  const others = await converse(target, message(victim), { patienceMs: PATIENCE_MS, signal })
  const malformed = findMalformed(own)
  const findings = malformed === undefined ? [] : [`After ${attack.name} (${id}), ${malformed}.`]
  const [response] = others.responses
  if (response?.status !== 404 || idOf(response) !== victim) {
    const got = response === undefined ? describeDialogue(others) : `${response.status} to ${idOf(response)}`
    findings.push(`After ${attack.name} (${id}), the next client's request got ${got}.`)
  }
  return findings
}
