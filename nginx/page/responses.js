import { ask, frameworkOf, originOf } from './grid.js'

// The response of an app on its main route, both ways side by side: status, headers, and the beginning of the body.

const SHOWN = 600

const dialog = document.querySelector('#responses')
const progress = dialog.querySelector('[role="status"]')

/** Opens the dialog at once and fills it in when the responses are there. */
export async function showResponses(cell) {
  const { service, role, path } = cell.dataset
  dialog.querySelector('h2').textContent = `${frameworkOf(cell)} ${role}: GET ${path}`
  dialog.dataset.service = service
  progress.textContent = 'Asking.'
  for (const output of dialog.querySelectorAll('pre')) output.textContent = ''
  dialog.showModal()
  await Promise.all(
    [...cell.querySelectorAll('[data-topology]')].map((way) => showResponse(way, service, path)),
  )
  if (dialog.dataset.service === service) progress.textContent = 'Done.'
}

async function showResponse(way, service, path) {
  const section = dialog.querySelector(`[data-response="${way.dataset.topology}"]`)
  section.querySelector('code').textContent = `curl -i ${way.querySelector('a').href}`
  const response = await readResponse(originOf(way) + path)
  // Another app may have been asked in the meantime.
  if (dialog.dataset.service === service) section.querySelector('pre').textContent = response
}

async function readResponse(url) {
  try {
    const response = await ask(url)
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}\n`)
    const body = await response.text()
    const cut = body.length > SHOWN ? `\n[and ${body.length - SHOWN} characters more]` : ''
    return `${response.status} ${response.statusText}\n${headers.join('')}\n${body.slice(0, SHOWN)}${cut}`
  } catch (error) {
    return error.name === 'TimeoutError' ? 'No response in time.' : 'NGINX does not respond.'
  }
}
