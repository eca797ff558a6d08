import { FORMS } from '@startgrid/conformance/protocol/forms.ts'
import { checkRfc9112 } from '@startgrid/conformance/protocol/rfc9112.ts'
import type { Fault } from '../fault.ts'
import { findDeath } from '../subject/alive.ts'
import { frontOf } from '../subject/front.ts'

/** The server refuses what RFC 9112 refuses, and reads everything else as RFC 9112 says. */
export const rfc9112: Fault = {
  name: 'rfc9112',
  title: `${FORMS.length} odd requests on raw sockets, direct and behind NGINX`,
  expected:
    'requests that RFC 9112 refuses with MUST are refused; the connection closes if the end of a request is in doubt',
  atOnce: 2,
  async run(subject) {
    const app = await subject.launch()
    const { findings, notes } = await checkRfc9112(app.target, subject.signal)
    if (subject.nginx !== undefined && subject.app.runtime !== 'nginx') {
      const proxied = await checkRfc9112((await frontOf(subject, app)).target, subject.signal)
      findings.push(...proxied.findings.map((finding) => `Behind NGINX, ${finding}`))
    }
    return { findings: [...findings, ...(await findDeath(app))], notes, figures: { forms: FORMS.length } }
  },
}
