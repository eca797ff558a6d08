// The apps of the table, and how they are asked: always through this page's own origin.

/** Longer than NGINX takes to find that an app is not there (proxy_connect_timeout in proxy.conf). */
const TIMEOUT_MS = 4_000

/** One per app. */
export const cells = [...document.querySelectorAll('td[data-service]')]

/** One per app and topology. */
export const ways = cells.flatMap((cell) => [...cell.querySelectorAll('[data-topology]')])

export function frameworkOf(cell) {
  return cell.parentElement.dataset.framework
}

/** The way on this origin, without a path: `/grid/fastify-ssr/direct`. */
export function originOf(way) {
  return `/grid/${way.closest('td').dataset.service}/${way.dataset.topology}`
}

/**
 * Asks a second time if the first got nothing: browsers drop what is in flight when a network of the machine comes or goes,
 * as Docker's do with every `up` and `down`.
 * @throws {DOMException} `TimeoutError` after 4 s; {TypeError} if the NGINX of this page does not respond
 */
export async function ask(url) {
  try {
    return await get(url)
  } catch (error) {
    if (error.name === 'TimeoutError') throw error
    return get(url)
  }
}

function get(url) {
  return fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
}
