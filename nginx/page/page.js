// What the page knows beyond its links: which apps respond, their responses, the protocol, the newest report.

const [summary, report, dialog] = ['#summary', '#report', 'dialog'].map((one) => document.querySelector(one))
const ways = [...document.querySelectorAll('[data-way]')]

/** Asks an app through this page's own origin. @param way `data-way` is its service and topology: `koa-ssr/nginx` */
function ask(way, path) {
  const signal = AbortSignal.timeout(4_000)
  return fetch(`/grid/${way.dataset.way}${path}`, { cache: 'no-store', signal })
}

async function stateOf(way) {
  try {
    const { status } = await (await ask(way, '/readyz')).json()
    return { pass: 'ready', absent: 'not running' }[status] ?? 'not ready'
  } catch {
    return 'no response'
  }
}

async function check() {
  if (document.hidden) return
  const states = await Promise.all(
    ways.map(async (way) => {
      way.dataset.state = await stateOf(way)
      way.querySelector('.state').textContent = way.dataset.state
      return way.dataset.state
    }),
  )
  summary.textContent = `${states.filter((state) => state === 'ready').length} of ${ways.length} ready`
}

async function responseOf(way, path) {
  try {
    const response = await ask(way, path)
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join('')
    return `${response.status} ${response.statusText}\n${headers}\n${(await response.text()).slice(0, 600)}`
  } catch (error) {
    return String(error)
  }
}

function element(tag, textContent) {
  return Object.assign(document.createElement(tag), { textContent })
}

/** Opens the dialog at once, and fills it in as the responses come. */
function showResponses(cell) {
  const parts = [...cell.querySelectorAll('[data-way]')].flatMap((way) => {
    const link = way.querySelector('a')
    const text = element('pre', 'Asking.')
    responseOf(way, new URL(link.href).pathname).then((response) => {
      text.textContent = response
    })
    return [element('h3', `${way.dataset.way}: curl -i ${link.href}`), text]
  })
  dialog.querySelector('div').replaceChildren(...parts)
  dialog.showModal()
}

/** A directory as NGINX lists it, the newest first. */
async function list(url) {
  const entries = await (await fetch(url, { cache: 'no-store' })).json()
  return entries.toSorted((one, other) => Date.parse(other.mtime) - Date.parse(one.mtime))
}

/** Links the newest run that has a report; an interrupted one has none. */
async function linkReport() {
  for (const { name, type } of await list('/results/')) {
    const url = `/results/${encodeURIComponent(name)}/`
    if (type !== 'directory' || !/^[A-Za-z0-9][\w.-]*$/.test(name)) continue
    if (!(await list(url)).some((file) => file.name === 'report.html')) continue
    report.replaceChildren(Object.assign(element('a', `Report of ${name}`), { href: `${url}report.html` }))
    return
  }
}

for (const button of document.querySelectorAll('td button'))
  button.addEventListener('click', () => showResponses(button.closest('td')))
const [{ nextHopProtocol: protocol = '' } = {}] = performance.getEntriesByType('navigation')
document.querySelector('#protocol').textContent = `This page came by ${protocol || 'HTTP'}.`
setInterval(check, 10_000)
document.addEventListener('visibilitychange', check)
await Promise.all([check(), linkReport()])
