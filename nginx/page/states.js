import { ask, originOf, ways } from './grid.js'
import { summarise } from './summary.js'

// Asks every app, both ways, whether it is ready: again and again, while someone looks.

const POLL_MS = 5_000
/** As many connections as browsers open to one HTTP/1.1 server. */
const CONCURRENCY = 6

const WORDS = {
  pass: 'ready',
  fail: 'not ready',
  late: 'too slow',
  absent: 'no response', // to NGINX; asked directly, nothing is there
  unknown: 'unknown', // because NGINX itself does not respond
}

let round
let timer

/** Asks all once, now; during a round it joins that round. */
export function check() {
  clearTimeout(timer)
  round ??= checkAll().finally(() => {
    round = undefined
    schedule()
  })
  return round
}

/** To be called when the page is shown or hidden: one that nobody sees asks nothing. */
export function schedule() {
  clearTimeout(timer)
  if (document.visibilityState === 'visible') timer = setTimeout(check, POLL_MS)
}

async function checkAll() {
  const waiting = ways.values()
  let reached = true
  async function work() {
    for (const way of waiting) {
      const state = await askState(way)
      if (state === 'unknown') reached = false
      if (!reached) return
      show(way, state)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  if (!reached) for (const way of ways) show(way, 'unknown')
  summarise(reached)
}

async function askState(way) {
  try {
    const response = await ask(`${originOf(way)}/readyz?quiet`)
    const { status } = await response.json()
    return status === 'pass' || status === 'absent' ? status : 'fail'
  } catch (error) {
    if (error.name === 'TimeoutError') return 'late'
    // What responds, but not with JSON, is not a ready app.
    return error instanceof SyntaxError ? 'fail' : 'unknown'
  }
}

function show(way, state) {
  way.dataset.state = state
  const label = way.querySelector('.state')
  label.textContent = state === 'absent' && way.dataset.topology === 'direct' ? 'not running' : WORDS[state]
  label.hidden = false
}
