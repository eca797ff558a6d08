import type { Target } from '@startgrid/grid/launcher.ts'
import type { Fault } from '../fault.ts'
import { findDeath } from '../subject/alive.ts'
import { frontOf } from '../subject/front.ts'
import type { Subject } from '../subject/subject.ts'
import { converse } from '../wire/dialogue.ts'
import { FORMS, type Form } from '../wire/forms.ts'
import { formBytes, idBehind, judgeForm } from '../wire/judge.ts'

/** Everything that RFC 9112 says a server must refuse is refused, and everything around it is read as it says. */
export const rfc9112: Fault = {
  name: 'rfc9112',
  title: `${FORMS.length} odd requests on raw sockets, direct and behind NGINX`,
  expected: 'what RFC 9112 refuses with MUST is refused, and the connection closed where its end is in doubt',
  atOnce: 2,
  async run(subject) {
    const app = await subject.launch()
    const { broken, unheeded } = await tryForms(subject, app.target)
    const findings = broken.map((deviation) => `RFC 9112 ${deviation}.`)
    if (subject.nginx !== undefined && subject.app.framework !== 'njs') {
      const proxied = await tryForms(subject, (await frontOf(subject, app)).target)
      findings.push(...proxied.broken.map((deviation) => `Behind NGINX, RFC 9112 ${deviation}.`))
    }
    findings.push(...(await findDeath(app)))
    const notes = unheeded.length > 0 ? [`Not as RFC 9112 advises: ${unheeded.join(', ')}.`] : []
    return { findings, notes, figures: { forms: FORMS.length } }
  },
}

/** Milliseconds that a server may take to answer or close, */
const PATIENCE_MS = 3_000
/** and once more if it matters: a busy machine may need them. */
const LAST_MS = 15_000
const AT_ONCE = 8

/** What a server does against the forms' duties: `broken` where it must not, `unheeded` where it should not. */
async function tryForms(subject: Subject, target: Target): Promise<{ broken: string[]; unheeded: string[] }> {
  const broken: string[] = []
  const unheeded: string[] = []
  const open = FORMS.entries()
  const work = async (): Promise<void> => {
    for (const [index, form] of open) {
      const deviation = await tryForm(form, `form-${index}`, target, subject.signal)
      if (deviation === undefined) continue
      if (form.advised) unheeded.push(`${form.name} (${form.section})`)
      else broken.push(`${form.section}, ${form.name}: ${deviation}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { broken, unheeded }
}

async function tryForm(form: Form, id: string, target: Target, signal: AbortSignal) {
  const send = (patienceMs: number) =>
    converse(target, formBytes(form, id), { until: idBehind(id), patienceMs, signal })
  const dialogue = await send(PATIENCE_MS)
  const isLate = dialogue.ending === 'silent' && !form.advised
  return judgeForm(form, id, isLate ? await send(LAST_MS) : dialogue)
}
