import { ask, cells, originOf, ways } from './grid.js'
import { linkReport } from './report.js'
import { showResponses } from './responses.js'
import { check, schedule } from './states.js'

// The landing page's script. Without it the page has the table and its links; what needs it is hidden until here.

document.querySelector('#glance').hidden = false
describeProtocol()
for (const cell of cells) {
  const button = cell.querySelector('button')
  button.hidden = false
  button.addEventListener('click', () => showResponses(cell))
}
document.querySelector('#check button').addEventListener('click', refresh)
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') refresh()
  else schedule()
})
await Promise.all([quietly(adjustLinks), refresh()])

async function refresh() {
  await Promise.all([check(), quietly(linkReport)])
}

/** How this page came: `h2` is HTTP/2. Not every browser says it. */
function describeProtocol() {
  const [{ nextHopProtocol = '' } = {}] = performance.getEntriesByType('navigation')
  const version = nextHopProtocol === 'h2' ? 'HTTP/2' : nextHopProtocol.toUpperCase()
  const element = document.querySelector('#protocol')
  element.textContent = `This page came by ${version} ${location.protocol === 'https:' ? 'over TLS' : 'without TLS'}.`
  element.hidden = version === ''
}

/** That NGINX does not respond is said once, by `check`. */
function quietly(work) {
  return work().catch(() => undefined)
}

/**
 * The apps are published on the host of this page, and the first digits of their ports can be chosen. If they are not published, links lead
 * through this page's origin.
 */
async function adjustLinks() {
  const { prefix } = await (await ask('/ports.json')).json()
  for (const way of ways) {
    const link = way.querySelector('a')
    if (prefix === '') {
      link.href = originOf(way) + link.pathname
      link.querySelector('.port').textContent = ''
      continue
    }
    link.hostname = location.hostname
    link.port = prefix + link.port.slice(-3)
    link.querySelector('.port').textContent = link.port
  }
}
