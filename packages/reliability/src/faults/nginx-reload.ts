import { until } from '@startgrid/cli/until.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { findCrossed, findFailures, LIGHT } from '../clients/clients.ts'
import type { Fault } from '../fault.ts'

/** A new configuration, or another number of workers, in front of an app that is in use. */
export const nginxReload: Fault = {
  name: 'nginx-reload',
  title: '`pnpm nginx reload` and `workers N` under load',
  expected: 'no failed request',
  atOnce: 2,
  async run(subject) {
    const { target } = await subject.launch({ env: NEVER_SHED })
    if ('socketPath' in target) throw new Error('It listens on a socket, and should on a port.')
    const listen = { host: '127.0.0.1', port: 0 }
    const nginx = await subject.front([{ name: 'app', topology: 'nginx', listen, upstream: target }], 2)
    const [address = listen] = nginx.addresses
    const clients = subject.clients({ target: address, path: LIGHT[subject.app.role], kept: 6, fresh: 3 })
    const progress = (): Promise<void> => {
      const enough = clients.responded + 50
      return until('there have not been 50 more responses', () => clients.responded >= enough)
    }
    const changes = subject.size === 'full' ? 20 : 2
    for (let change = 0; change < changes; change++) {
      await progress()
      await nginx.workers(change % 2 === 0 ? 3 : 1)
      await progress()
      await nginx.reload()
    }
    await progress()
    const tally = await clients.stop()
    const crossed = findCrossed(tally, 'by a worker that left')
    return {
      findings: [
        ...findFailures(tally, 'during reloads'),
        ...(nginx.nginx.keepaliveMinTimeout ? crossed : []),
      ],
      notes: nginx.nginx.keepaliveMinTimeout || tally.crossed === 0 ? [] : [OLD_NGINX],
      figures: { requests: tally.responded, reloads: 2 * changes, crossed: tally.crossed },
    }
  },
}

const OLD_NGINX =
  'NGINX before 1.27.4 closes idle client connections at once when a worker leaves, perhaps while a request is on its way; ' +
  'clients send such a request again (RFC 9110, 9.2.2). Later ones wait for it (`keepalive_min_timeout`).'
