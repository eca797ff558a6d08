import { cells, frameworkOf, ways } from './grid.js'

// What all states together say: how many respond, which apps are not running, and the command that starts them.

const glance = document.querySelector('#glance')
const advice = document.querySelector('#advice')
const GONE =
  'The NGINX that served this page is gone, so nothing is known about the apps. Start it again with'

/** @param reached whether the NGINX of this page responds */
export function summarise(reached) {
  const ready = ways.filter(isReady).length
  glance.dataset.state = !reached ? 'unknown' : ready === ways.length ? 'pass' : 'absent'
  write(glance.querySelector('#summary'), reached ? countReady(ready) : 'NGINX does not respond')
  write(glance.querySelector('#checked'), `Checked at ${new Date().toLocaleTimeString('en-GB')}`)
  for (const heading of document.querySelectorAll('th[data-role]')) countRole(heading, reached)
  advise(reached, cells.filter(isAbsent))
}

function countReady(ready) {
  if (ready === 0) return `None of ${ways.length} responds`
  return `${ready} of ${ways.length} ${ready === 1 ? 'responds' : 'respond'}`
}

function countRole(heading, reached) {
  const own = ways.filter((way) => way.closest('td').dataset.role === heading.dataset.role)
  const count = heading.querySelector('small')
  count.hidden = !reached
  write(count, `${own.filter(isReady).length} of ${own.length}`)
}

function advise(reached, absent) {
  for (const cell of cells) cell.classList.toggle('absent', absent.includes(cell))
  advice.hidden = reached && absent.length === 0
  if (advice.hidden) return
  const frameworks = [...new Set(absent.map(frameworkOf))]
  const whole = absent.length === cells.length
  const profiles = whole ? [] : frameworks.map((framework) => `--profile ${framework}`)
  write(advice.querySelector('p'), reached ? describe(absent, frameworks) : GONE)
  writeCommand(reached ? ['docker compose', ...profiles, 'up -d'] : ['docker compose', 'up -d', 'nginx'])
}

/** `4 of 21 apps are not running: koa, fastify ssr.` */
function describe(absent, frameworks) {
  if (absent.length === cells.length) return 'No app is running. Start them all with'
  const names = frameworks.flatMap((framework) => {
    const own = absent.filter((cell) => frameworkOf(cell) === framework)
    const whole = own.length === own[0].parentElement.querySelectorAll('td[data-service]').length
    return whole ? framework : own.map(({ dataset }) => `${framework} ${dataset.role}`)
  })
  const are = absent.length === 1 ? 'is' : 'are'
  return `${absent.length} of ${cells.length} apps ${are} not running: ${names.join(', ')}. Start with`
}

function isReady(way) {
  return way.dataset.state === 'pass'
}

/** Not through NGINX only: then NGINX is at fault. */
function isAbsent(cell) {
  return cell.querySelectorAll('[data-state="absent"]').length === 2
}

function writeCommand(words) {
  const code = advice.querySelector('code')
  if (code.textContent === words.join(' ')) return
  const parts = words.map((word) => Object.assign(document.createElement('span'), { textContent: word }))
  code.replaceChildren(...parts.flatMap((part, index) => (index === 0 ? [part] : [' ', part])))
}

/** A status region that is written to is read out, so only what differs is written. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text
}
